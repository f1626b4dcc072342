// Generates profiles.schema.json, the JSON Schema of oauth-profiles.yaml for editors, from the code that reads profiles.
import { optionNames } from '../src/profile/options/options.ts';
import { REPEATABLE_FIELDS } from '../src/profile/profile.ts';
import { KNOWN_FIELDS } from '../src/profile/profile-draft.ts';
import { providerTypes } from '../src/providers/registry.ts';
import { expectedValue, fieldMeanings } from './make-option-docs.js';

/** @typedef {Record<string, unknown>} Schema */

/** A value that is replaced when the profile is read: `${env:NAME}`. */
const reference = { type: 'string', pattern: '\\$\\{' };
const CLAIM_PREFIX = 'assertion.';
const scalar = { type: ['string', 'number', 'boolean', 'null'] };

/** Returns the schema. It accepts every valid file: fields may also come from another file or from a login, so none but the type is required. */
export function profileSchema() {
  const options = Object.fromEntries(Object.keys(optionNames).map((name) => [name, optionSchema(name)]));
  const claims = Object.fromEntries(
    Object.entries(options).flatMap(([name, schema]) =>
      name.startsWith(CLAIM_PREFIX) ? [[name.slice(CLAIM_PREFIX.length), schema]] : [],
    ),
  );
  const assertion = { ...mapOf(claims, 'Claims of the assertion of a jwt-bearer grant'), additionalProperties: scalar };
  const basic = Object.fromEntries(['user', 'password'].map((name) => [name, scalar]));
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'oauth-profile profiles',
    type: 'object',
    additionalProperties: { $ref: '#/$defs/variable' },
    $defs: {
      variable: {
        description: 'A profile, if it has a type; else a variable, or a map of them',
        ...when(
          { type: 'object', required: ['type'] },
          { $ref: '#/$defs/profile' },
          when({ type: 'object' }, { additionalProperties: { $ref: '#/$defs/variable' } }),
        ),
      },
      profile: {
        properties: {
          ...Object.fromEntries(KNOWN_FIELDS.map((name) => [name, fieldSchema(name)])),
          basic: mapOf(basic, 'Sent as an HTTP Basic header instead of the client ID and secret'),
          options: {
            ...mapOf({ ...options, assertion }, 'Settings of the request, which are never sent'),
            // Any other claim.
            patternProperties: { [`^assertion\\.(?!(${Object.keys(claims).join('|')})$)`]: scalar },
          },
          ...prefixed('basic.', basic),
          ...prefixed('options.', { ...options, assertion }),
        },
        // An unknown option is an error, an unknown field is sent.
        patternProperties: { [`^options\\.(?!(${Object.keys(options).join('|')}|assertion)$|assertion\\.)`]: false },
        additionalProperties: { anyOf: [scalar, { type: 'object', $ref: '#/$defs/variable' }] },
      },
    },
  };
}

/** @param {Schema} condition @param {Schema} schema @param {Schema} [otherwise] @returns {Schema} */
function when(condition, schema, otherwise) {
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { if: condition, then: schema, ...(otherwise && { else: otherwise }) };
}

/** @param {string} name @returns {Schema} */
function fieldSchema(name) {
  const description = plain(fieldMeanings[name] ?? '');
  if (name === 'type') return { description: 'The provider', anyOf: [{ enum: providerTypes }, reference] };
  if (!['scope', ...REPEATABLE_FIELDS].includes(name)) return { description, ...scalar };
  return { description, anyOf: [scalar, { type: 'array', items: { type: 'string' } }] };
}

/** @param {string} name @returns {Schema} */
function optionSchema(name) {
  const description = capitalize(optionNames[name] ?? '');
  const expected = expectedValue(name);
  const choices = /^one of (.*)$/.exec(expected)?.[1]?.split(', ');
  if (choices !== undefined) {
    const values = choices.flatMap((value) => (/^(?:true|false)$/.test(value) ? [value === 'true', value] : [value]));
    return { description, anyOf: [{ enum: values }, { type: 'null' }, reference] };
  }
  if (expected.startsWith('a duration')) {
    const durations = { type: 'string', pattern: '^\\d+(\\.\\d+)?(ms|s|m|h)?$' };
    return { description, anyOf: [durations, { type: ['number', 'null'] }, reference] };
  }
  if (expected.startsWith('a list'))
    return { description, anyOf: [scalar, { type: 'array', items: { type: 'string' } }] };
  return { description, ...scalar };
}

/** @param {Schema} properties @param {string} description */
function mapOf(properties, description) {
  return { description, type: ['object', 'null'], properties, additionalProperties: false };
}

/** Members of a map may also be written with a dot: `options.timeout`. @param {string} prefix @param {Schema} properties @returns {Schema} */
function prefixed(prefix, properties) {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [`${prefix}${name}`, schema]));
}

/** Removes links and code marks. @param {string} markdown */
function plain(markdown) {
  return capitalize(markdown.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', ''));
}

/** @param {string} text */
function capitalize(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
