// The pages that are made from the code. All is done while this file loads: afterwards make-docs.js can load no TypeScript any more.
import { commandFiles } from './make-command-docs.js';
import { errorDocs } from './make-error-docs.js';
import { optionDocs } from './make-option-docs.js';

/** By the path of the file in the repository. @type {Record<string, string>} */
export const pages = { ...commandFiles(), 'docs/errors.md': await errorDocs(), 'docs/options.md': optionDocs() };
