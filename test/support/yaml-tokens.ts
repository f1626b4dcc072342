/** Strings with a meaning in YAML, for mutated inputs. */
export const yamlTokens = [
  ...[': ', '- ', '? ', '| ', '>-', '&a ', '*a', '<<: *a', '!!str ', '!x ', '---\n', '...\n', '%YAML 1.1\n', '{', '}'],
  ...['[', ']', ', ', '#', '"', "'", '\n  ', '\n- ', '\n', '~', '007', '1_000', '.inf', '0o17', '2001-01-01', 'yes'],
];
