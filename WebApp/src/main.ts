// SPDX-License-Identifier: GPL-3.0-or-later
import { createApp } from 'vue';
import App from './App.vue';
import { restoreFolds } from './store/folds';
import { startObserving } from './store/observe';
import { restoreTheme } from './store/theme';
import './styles/page.css';

restoreTheme();
restoreFolds();
createApp(App).mount('#app');
startObserving();
