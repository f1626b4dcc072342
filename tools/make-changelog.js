// `npm run changelog`: writes what the commits since the last release say into the section "Unreleased" of CHANGELOG.md, below what a person
// wrote there. `--notes 1.2.3` prints the section of a version instead.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const REPOSITORY = 'https://github.com/oauth-profile/oauth-profile';
const UNRELEASED = 'Unreleased';
const [BEGIN, END] = ['<!-- from the commits -->', '<!-- /from the commits -->'];
/** What a user notices, by the type of a Conventional Commit; all others are the workshop's. */
const headings = new Map([
  ['breaking', 'Breaking'],
  ['feat', 'Added'],
  ['fix', 'Fixed'],
  ['perf', 'Faster'],
]);

/** @typedef {{ hash: string, subject: string, body: string }} Commit */
/** @typedef {{ kind: string, scope: string, text: string, hash: string }} Change */

/** @param {string[]} args */
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' });

/** The newest version that was released: `v1.2.3`, or none. @returns {string | undefined} */
export function lastTag() {
  const tags = git('tag', '--list', 'v*', '--merged', 'HEAD', '--sort=-version:refname').split('\n');
  return tags.find((tag) => /^v\d+\.\d+\.\d+$/.test(tag));
}

/** @param {string} since @returns {Commit[]} oldest first */
export function commitsSince(since) {
  const log = git('log', '--reverse', '--no-merges', '--format=%H%x00%s%x00%b%x01', `${since}..HEAD`);
  const commits = log.split('\u0001').filter((commit) => commit.trim() !== '');
  return commits.map((commit) => {
    const [hash = '', subject = '', body = ''] = commit.trimStart().split('\0');
    return { hash, subject, body };
  });
}

/** What a commit changes for a user; a breaking change stands under its own heading too. @param {Commit} commit @returns {Change[]} */
function changesOf({ hash, subject, body }) {
  const [, type = '', scope = '', mark, text = ''] = /^(\w+)(?:\(([^)]*)\))?(!)?: (.+)$/.exec(subject) ?? [];
  const told = /^BREAKING[ -]CHANGE: ([\s\S]+?)(?:\n\n|\n[\w-]+: |$(?![\s\S]))/m.exec(body)?.[1]?.replace(/\s+/g, ' ');
  const changes = headings.has(type) ? [{ kind: type, scope, text, hash }] : [];
  if (mark === undefined && told === undefined) return changes;
  return [{ kind: 'breaking', scope, text: told ?? text, hash }, ...changes];
}

/** The list for a section, or '' where no commit is of interest to a user. @param {Commit[]} commits */
export function renderChanges(commits) {
  const changes = commits.flatMap(changesOf);
  const groups = [...headings].map(([kind, heading]) => {
    const lines = changes
      .filter((change) => change.kind === kind)
      // Stable: within a scope they stay in the order they were made.
      .sort((a, b) => (a.scope < b.scope ? -1 : a.scope > b.scope ? 1 : 0))
      .map(({ scope, text, hash }) => {
        const link = `[${hash.slice(0, 7)}](${REPOSITORY}/commit/${hash})`;
        return `- ${scope === '' ? '' : `**${scope}**: `}${asText(text)} (${link})`;
      });
    return lines.length === 0 ? '' : `### ${heading}\n\n${lines.join('\n')}`;
  });
  return groups.filter((group) => group !== '').join('\n\n');
}

/** `<profile>` is a word of ours and no element of a page; in code it stands as it is. @param {string} text */
function asText(text) {
  return text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replace(/[<*[\]]/g, '\\$&')))
    .join('');
}

/** Where the section of a version begins and ends, its heading left out. @param {string} changelog @param {string} name */
function findSection(changelog, name) {
  const heading = new RegExp(`^## ${name.replaceAll('.', '\\.')}(?: \\(.*\\))?$`, 'm').exec(changelog);
  if (heading === null) return undefined;
  const begin = heading.index + heading[0].length;
  const next = changelog.slice(begin).search(/^## /m);
  return { headingAt: heading.index, begin, end: next < 0 ? changelog.length : begin + next };
}

/** The text below the heading of a version, or undefined where there is none. @param {string} changelog @param {string} name */
export function sectionOf(changelog, name) {
  const found = findSection(changelog, name);
  return found && changelog.slice(found.begin, found.end).trim();
}

/** The changelog with a section for what comes next, its list replaced; what a person wrote there stays. @param {string} changelog @param {string} list */
export function withUnreleased(changelog, list) {
  const found = findSection(changelog, UNRELEASED);
  const first = changelog.search(/^## /m);
  const at = found ?? { headingAt: first < 0 ? changelog.length : first, end: first < 0 ? changelog.length : first };
  const written = (sectionOf(changelog, UNRELEASED) ?? '').replace(new RegExp(`${BEGIN}[\\s\\S]*${END}`), '').trim();
  const parts = [`## ${UNRELEASED}`, written, list && `${BEGIN}\n\n${list}\n\n${END}`].filter((part) => part !== '');
  const [before, after] = [changelog.slice(0, at.headingAt).trimEnd(), changelog.slice(at.end).trim()];
  return `${[before, ...parts, after].filter((part) => part !== '').join('\n\n')}\n`;
}

/** The changelog in which what was unreleased is a version. @param {string} changelog @param {string} version @param {string} date */
export function withRelease(changelog, version, date) {
  return changelog
    .replace(new RegExp(`^## ${UNRELEASED}$`, 'm'), `## ${version} (${date})`)
    .replaceAll(new RegExp(`^(?:${BEGIN}|${END})\n\n?`, 'gm'), '');
}

/** The changelog as it should be before a release. Without a release before, no commit changed anything for a user: only words of a person count. @param {string} changelog */
export function upToDate(changelog) {
  const tag = lastTag();
  return withUnreleased(changelog, tag === undefined ? '' : renderChanges(commitsSince(tag)));
}

if (process.argv[1] === import.meta.filename) {
  const file = join(root, 'CHANGELOG.md');
  const changelog = readFileSync(file, 'utf8');
  const [flag, version = ''] = process.argv.slice(2);
  if (flag === '--notes') {
    const notes = sectionOf(changelog, version);
    if (!notes) {
      console.error(`CHANGELOG.md has nothing to say about ${version}`);
      process.exit(1);
    }
    console.log(notes);
  } else if (flag === undefined) {
    writeFileSync(file, upToDate(changelog));
    console.log(
      lastTag() === undefined ? 'no version was released yet: nothing is listed' : `listed since ${lastTag()}`,
    );
  } else {
    console.error('usage: npm run changelog [-- --notes VERSION]');
    process.exit(2);
  }
}
