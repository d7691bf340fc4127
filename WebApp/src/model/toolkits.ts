// SPDX-License-Identifier: GPL-3.0-or-later
// DICOM toolkits by the implementation version name that they announce (PS3.7, D.3.3.2).

const KNOWN: readonly (readonly [RegExp, string])[] = [
  [/^OFFIS_DCMTK_(\d)(\d)(\d+)$/i, 'DCMTK $1.$2.$3'],
  [/^PYNETDICOM_(\d)(\d)(\d+)$/i, 'pynetdicom $1.$2.$3'],
  [/^DCM4CHE-?([\d.]*)$/i, 'dcm4che $1'],
  [/^FO-DICOM[ _-]?([\d.]*)$/i, 'fo-dicom $1'],
  [/^DICOM-RS[ _-]?([\d.]*)$/i, 'DICOM-rs $1'],
  [/^GDCM[ _-]?([\d.]*)$/i, 'GDCM $1'],
  [/^ORTHANC[ _-]?([\d.]*)$/i, 'Orthanc $1'],
];

// "OFFIS_DCMTK_367" is "DCMTK 3.6.7"; names that are not known stay as they are
export function nameToolkit(implementationVersion: string): string {
  for (const [pattern, name] of KNOWN) {
    if (pattern.test(implementationVersion)) {
      return implementationVersion.replace(pattern, name).trim();
    }
  }
  return implementationVersion;
}
