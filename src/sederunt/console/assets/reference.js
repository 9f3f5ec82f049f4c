// The API's own document as pages that can send requests: in the name of who is signed in, or with a pasted key.

import { csrfToken } from './api.js';

/** @typedef {{url: string, headers: Record<string, string>}} Sent */

const make = /** @type {(options: Record<string, unknown>) => unknown} */ (Reflect.get(window, 'SwaggerUIBundle'));

// Its style has a dark look of its own, by this class.
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', prefersDark.matches);
prefersDark.addEventListener('change', follow);
follow();

make({
  url: '/openapi.json',
  domNode: document.getElementById('reference'),
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
  filter: true,
  syntaxHighlight: false,
  tryItOutEnabled: true,
  validatorUrl: null, // a picture from elsewhere
  requestInterceptor: (/** @type {Sent} */ sent) => {
    if (!sent.headers.Authorization) sent.headers['X-CSRF-Token'] = csrfToken();
    return sent;
  },
});
