import js from '@eslint/js';
import imports from 'eslint-plugin-import-x';
import jsdoc from 'eslint-plugin-jsdoc';

// Globals of browsers, Node, Deno, Bun and workers alike. Node's own are used only in node-socket.js and its imports.
const EVERYWHERE = [
  'AbortController', 'AbortSignal', 'DataView', 'Event', 'EventTarget', 'Reflect', 'TextDecoder', 'TextEncoder', 'URL', 'WebSocket', 'clearTimeout', 'fetch', 'globalThis',
  'performance', 'queueMicrotask', 'setTimeout', 'structuredClone', 'Blob',
];
const IN_TESTS = [
  'Buffer', 'CloseEvent', 'PageTransitionEvent', 'WebSocket', 'atob', 'btoa', 'clearInterval', 'client', 'console', 'dispatchEvent', 'document', 'location', 'process', 'setImmediate',
  'setInterval',
];
const globals = names => Object.fromEntries(names.map(name => [name, 'readonly']));

export default [
  { ignores: ['types/', 'dist/', '**/node_modules/'] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2024, globals: globals(EVERYWHERE) },
    plugins: { 'import-x': imports, jsdoc },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'eqeqeq': 'error',
      'prefer-const': 'error',
      'no-var': 'error',
      'no-console': 'error',
      'curly': 'error',
      'max-len': ['error', { code: 200 }],
      'no-unused-vars': ['error', { args: 'after-used' }],
    },
  },
  {
    files: ['src/**'],
    rules: {
      'import-x/no-cycle': 'error',
      'jsdoc/require-jsdoc': ['error', { publicOnly: true }],
      'jsdoc/check-param-names': 'error',
      'jsdoc/check-tag-names': ['error', { typed: false }],
      'no-restricted-syntax': ['error', { selector: 'ImportDeclaration[source.value=/^node:/]', message: 'Node only in node-socket.js' }],
    },
  },
  { files: ['src/environment.js'], languageOptions: { globals: globals(['window']) } },
  {
    files: ['src/node-socket.js'],
    languageOptions: { globals: globals(['Buffer']) },
    rules: { 'no-restricted-syntax': 'off' },
  },
  { files: ['test/**', 'bench/**', '*.js', 'scripts/**'], languageOptions: { globals: globals(IN_TESTS) }, rules: { 'no-console': 'off', 'max-len': 'off' } },
];
