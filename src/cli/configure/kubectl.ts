import { isMap, isScalar, isSeq, parseDocument, type YAMLSeq } from 'yaml';
import { usageError } from '../args.ts';

/** A `users[].user.exec` entry. */
export interface ExecEntry {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

const NEW_FILE = 'apiVersion: v1\nkind: Config\n';

/** Adds a user to a kubeconfig, or removes it. Only the lines of this user are changed. */
export function editKubeconfig(text: string | undefined, entry: ExecEntry, undo: boolean): string | undefined {
  const without = removeUser(text ?? NEW_FILE, entry.name);
  if (undo) return without === NEW_FILE || text === undefined ? undefined : without;
  const users = findUsers(without);
  const first = users?.items[0];
  // The first position: everything after it stays as it is.
  if (users !== undefined && !users.flow && isMap(first) && first.range) {
    const dash = without.lastIndexOf('-', first.range[0]);
    const lineStart = without.lastIndexOf('\n', dash) + 1;
    const indent = without.slice(lineStart, dash);
    if (indent.trim() === '') return without.slice(0, lineStart) + formatUser(entry, indent) + without.slice(lineStart);
  }
  if (users !== undefined && users.items.length > 0)
    throw usageError('the users of the kubeconfig are not a list of lines', 'write them as a block list');
  const rest = without.replace(/^users:[^\S\n]*(?:\[\s*\]|null|~)?[^\S\n]*(?:\n|$)/m, '');
  const separator = rest === '' || rest.endsWith('\n') ? '' : '\n';
  return `${rest}${separator}users:\n${formatUser(entry, '')}`;
}

function removeUser(text: string, name: string): string {
  const users = findUsers(text);
  const index = users?.items.findIndex((item) => isMap(item) && item.get('name') === name) ?? -1;
  const item = users?.items[index];
  if (users === undefined || !isMap(item) || !item.range) return text;
  const lineStart = text.lastIndexOf('\n', text.lastIndexOf('-', item.range[0])) + 1;
  const next = users.items[index + 1];
  const end = isMap(next) && next.range ? text.lastIndexOf('\n', text.lastIndexOf('-', next.range[0])) + 1 : undefined;
  const rest = text.slice(0, lineStart) + text.slice(end ?? item.range[2]);
  if (users.items.length > 1) return rest;
  return text.startsWith(NEW_FILE) && rest === `${NEW_FILE}users:\n`
    ? NEW_FILE
    : rest.replace(/^users:[^\S\n]*\n/m, 'users: []\n');
}

function findUsers(text: string): YAMLSeq | undefined {
  const document = parseDocument(text);
  if (document.errors.length > 0 || !isMap(document.contents))
    throw usageError('the kubeconfig is not valid YAML', 'correct the file: kubectl config view shows the error');
  const users = document.contents.get('users', true);
  if (isSeq(users)) return users;
  if (users === undefined || (isScalar(users) && users.value === null)) return undefined;
  throw usageError('users in the kubeconfig is not a list', 'correct the file');
}

function formatUser({ name, command, args }: ExecEntry, indent: string): string {
  const lines = [
    `- name: ${JSON.stringify(name)}`,
    '  user:',
    '    exec:',
    '      apiVersion: client.authentication.k8s.io/v1',
    `      command: ${JSON.stringify(command)}`,
    `      args: ${JSON.stringify(args)}`,
    '      interactiveMode: Never',
    '      provideClusterInfo: true',
  ];
  return lines.map((line) => `${indent}${line}\n`).join('');
}
