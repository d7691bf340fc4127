// SPDX-License-Identifier: GPL-3.0-or-later
// libssl.so for the HTTP library of Debian's Orthanc (civetweb, in Debian 12, 13 and sid). It looks for
// this function in whatever file has that name, does not look whether it got it, and calls it at the first
// HTTPS connection. OpenSSL 3 has it under another name only (SSL_get_peer_certificate(3)). Linked to
// libssl.so.3, so that all other functions are found through it:
//     cc -shared -fPIC ssl.c -o libssl.so -Wl,--no-as-needed -l:libssl.so.3

struct ssl_st;
struct x509_st;

struct x509_st* SSL_get1_peer_certificate(const struct ssl_st* ssl);

struct x509_st* SSL_get_peer_certificate(const struct ssl_st* ssl)
{
  return SSL_get1_peer_certificate(ssl);
}
