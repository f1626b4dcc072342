#!/usr/bin/env node
// Starts the command line, with the compiled code that an earlier `token` left beside it: compiling takes longer than all else that
// `token` does before it sends. Who could change that code could as well change the program, which lies in the same folder.
// NODE_DISABLE_COMPILE_CACHE, which means the same to Node itself, turns it off.
const { accessSync, constants, readFileSync, renameSync, rmSync, statSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { Script } = require('node:vm');

const folder = join(__dirname, '..', 'dist', 'cli');
const enabled = !process.env['NODE_DISABLE_COMPILE_CACHE'];
// V8 refuses what another version of it compiled, but would crash over that of another build.
const { size, mtimeMs } = statSync(process.execPath);
const ending = `.${process.version}-${size}-${Math.floor(mtimeMs)}.compiled`;
const modules = new Map();
const scripts = new Map();
let complete = true;

/** What `require` does, for the files of the program: each is a function of what it exports and requires, in ASCII. */
function load(name) {
  const known = modules.get(name);
  if (known !== undefined) return known.exports;
  const filename = join(folder, name);
  const source = readFileSync(filename);
  const cachedData = enabled ? readCompiled(filename + ending, source) : undefined;
  const script = new Script(source.latin1Slice(), { filename, cachedData });
  scripts.set(filename + ending, { source, script });
  if (cachedData === undefined) complete = false;
  const module = { exports: {} };
  modules.set(name, module);
  script.runInThisContext()(module.exports, (id) => (id.startsWith('./') ? load(id.slice(2)) : require(id)));
  return module.exports;
}

/** V8 believes all that it is given: it would run the code of an older source, and crash over what a disk spoilt. */
function readCompiled(file, source) {
  let bytes;
  try {
    bytes = readFileSync(file);
  } catch {
    return undefined;
  }
  const length = (bytes.length - source.length) / 2;
  if (!Number.isInteger(length) || length <= 0) return undefined;
  const code = bytes.subarray(0, length);
  return code.equals(bytes.subarray(length, 2 * length)) && bytes.subarray(2 * length).equals(source)
    ? code
    : undefined;
}

/** Everything twice: comparing is quicker than any sum. */
function contentsOf(code, source) {
  return Buffer.concat([code, code, source]);
}

/**
 * Leaves the code of this run to the next one, where the person may write to the program's folder. V8 compiles a function when it is
 * first called: who loads a new file goes new ways through the others too, so that these are kept again, with what they have gained.
 */
function keepCompiled() {
  if (!enabled || complete) return;
  try {
    accessSync(folder, constants.W_OK);
    for (const [file, { source, script }] of scripts) replace(file, contentsOf(script.createCachedData(), source));
  } catch {
    // Then the next run compiles again.
  }
}

/** Nobody would ever take away what a full disk had no room for the rest of, and each run would add to it. */
function replace(file, contents) {
  const temp = `${file}.${process.pid}`;
  try {
    writeFileSync(temp, contents, { flush: true });
    renameSync(temp, file);
  } catch (error) {
    rmSync(temp, { force: true });
    throw error;
  }
}

const args = process.argv.slice(2);
load('main.cjs')
  .main(args)
  .then((status) => {
    // Only a whole `token` has used, and so compiled, what the next one will need.
    if (args[0] === 'token' && status === 0) keepCompiled();
    // Everything is written; letting Node find that nothing is left to do takes longer.
    process.exit(status);
  });
