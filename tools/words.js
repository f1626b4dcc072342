// Finds the words listed in words.json in source files and documents.
import ts from 'typescript';

/** @typedef {'comment' | 'comment-start' | 'string' | 'identifier' | 'prose' | 'help'} Kind */
/** @typedef {{find: string, use: string, in?: Kind[], allow?: string[], allowLine?: string[], except?: string[]}} Word */
/** @typedef {{kind: Kind, text: string, line: number}} Fragment One piece of English, with its line number counted from 1. */
/** @typedef {{line: number, word: string, use: string}} Finding */

/** Kinds that an entry without `in` applies to. */
const everyKind = ['comment', 'string', 'identifier', 'prose', 'help'];

/**
 * Compiles the entries of words.json.
 * @param {readonly Word[]} words
 */
export function compileWords(words) {
  return words.map(({ find, use, in: kinds = everyKind, allow = [], allowLine = [], except = [] }) => ({
    // `\b` does not work next to `--` or `^`, so the boundaries are lookarounds. A hyphen before a word belongs to it.
    pattern: new RegExp(`(?<![\\w])(?:${find})(?![\\w])`, find.startsWith('^') ? 'g' : 'gi'),
    use,
    kinds: new Set(/** @type {string[]} */ (kinds)),
    allow: allow.map((source) => new RegExp(source, 'gi')),
    allowLine: allowLine.map((source) => new RegExp(source)),
    except,
  }));
}

/**
 * Returns the listed words in one file, in the order of their lines.
 * @param {string} path Relative to the repository; decides how the file is read and which entries apply.
 * @param {string} source
 * @param {ReturnType<typeof compileWords>} words
 * @returns {Finding[]}
 */
export function findWords(path, source, words) {
  const lines = source.split('\n');
  const applicable = words.filter(({ except }) => !except.some((prefix) => path.startsWith(prefix)));
  // Most strings contain none of the words, and testing one pattern is faster than testing a hundred.
  const anyWord = new RegExp(applicable.map(({ pattern }) => pattern.source).join('|'), 'i');
  const findings = [];
  for (const { kind, text, line } of fragmentsOf(path, source)) {
    if (!anyWord.test(text)) continue;
    /** @type {RegExpExecArray[]} */
    const reported = [];
    for (const { pattern, use, kinds, allow, allowLine } of applicable) {
      if (!kinds.has(kind)) continue;
      for (const match of text.matchAll(pattern)) {
        if (reported.some((other) => overlap(other, match))) continue;
        if (allow.some((allowed) => [...text.matchAll(allowed)].some((found) => overlap(found, match)))) continue;
        if (allowLine.some((allowed) => allowed.test(lines[line - 1] ?? ''))) continue;
        reported.push(match);
        findings.push({ line, word: match[0].trim(), use });
      }
    }
  }
  return findings.sort((one, other) => one.line - other.line);
}

/** @param {RegExpExecArray} one @param {RegExpExecArray} other */
function overlap(one, other) {
  return one.index < other.index + other[0].length && other.index < one.index + one[0].length;
}

/** @param {string} path @param {string} source @returns {Fragment[]} */
function fragmentsOf(path, source) {
  /** @type {Fragment} */
  const name = { kind: 'identifier', text: splitIdentifier(path), line: 1 };
  if (/\.[cm]?[jt]s$/.test(path)) return [name, ...codeFragments(path, source)];
  const kind = path === 'cli-help' ? 'help' : 'prose';
  return [name, ...byLine(kind, source, 1)];
}

/** @param {string} path @param {string} source */
function codeFragments(path, source) {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const lineAt = (/** @type {number} */ position) => file.getLineAndCharacterOfPosition(position).line + 1;
  /** @type {Fragment[]} */
  const fragments = [];
  /** @type {Set<number>} */
  const seen = new Set();
  let previousLine = -1;

  /** @param {ts.CommentRange} comment */
  function addComment({ pos, end, kind }) {
    if (seen.has(pos)) return;
    seen.add(pos);
    const text = source
      .slice(pos, end)
      .replace(/^[ \t]*(\/\*+|\/\/+|\*(?!\/))[ \t]?/gm, '')
      .replace(/\*\/$/, '');
    const line = lineAt(pos);
    fragments.push(...byLine('comment', text, line));
    // Several `//` lines in a row are one comment.
    const continues = kind === ts.SyntaxKind.SingleLineCommentTrivia && line === previousLine + 1;
    if (!continues) fragments.push({ kind: 'comment-start', text: text.trimStart(), line });
    previousLine = lineAt(end);
  }

  /** @param {ts.Node} node */
  function visit(node) {
    for (const comment of ts.getLeadingCommentRanges(source, node.pos) ?? []) addComment(comment);
    for (const comment of ts.getTrailingCommentRanges(source, node.end) ?? []) addComment(comment);
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      // Import paths are checked as the name of the imported file.
      const isImport = ts.isImportDeclaration(node.parent) || ts.isExportDeclaration(node.parent);
      if (!isImport) fragments.push(...byLine('string', node.text, lineAt(node.getStart(file))));
    } else if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) {
      if (isDeclared(node)) {
        fragments.push({ kind: 'identifier', text: splitIdentifier(node.text), line: lineAt(node.getStart(file)) });
      }
    }
    // getChildren() also visits punctuation, which carries the comments at the end of a block.
    for (const child of node.getChildren(file)) if (!ts.isJSDoc(child)) visit(child);
  }
  visit(file);
  return fragments;
}

/** Whether the code itself coined this name; names of imported libraries are not ours to change. @param {ts.Node} node */
function isDeclared(node) {
  const { parent } = node;
  if (ts.isBindingElement(parent)) return parent.name === node && parent.propertyName !== undefined;
  return (
    (ts.isVariableDeclaration(parent) ||
      ts.isParameter(parent) ||
      ts.isFunctionLike(parent) ||
      ts.isClassLike(parent) ||
      ts.isInterfaceDeclaration(parent) ||
      ts.isTypeAliasDeclaration(parent) ||
      ts.isEnumDeclaration(parent) ||
      ts.isEnumMember(parent) ||
      ts.isPropertySignature(parent) ||
      ts.isPropertyDeclaration(parent)) &&
    parent.name === node
  );
}

/** @param {Kind} kind @param {string} text @param {number} first @returns {Fragment[]} */
function byLine(kind, text, first) {
  return text.split('\n').map((line, index) => ({ kind, text: line, line: first + index }));
}

/** `isCachedToken`, `CACHED_TOKEN` and `cached-token.ts` become words separated by spaces. @param {string} name */
function splitIdentifier(name) {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .replace(/[^a-zA-Z\d]+/g, ' ')
    .trim()
    .toLowerCase();
}
