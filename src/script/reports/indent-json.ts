const MAX_LENGTH = 200_000;

/** JSON that stands in one line, put on lines of its own; anything else stays as it is. Numbers and strings keep their spelling. */
export function indentJson(text: string): string {
  if (text.length > MAX_LENGTH || !/^\s*[[{]/.test(text) || text.trim().includes('\n') || !isJson(text)) return text;
  let result = '';
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]+|\\.)*"|[{[]\s*[}\]]|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    if (token === '{' || token === '[') result += token + lineAt(++depth);
    else if (token === '}' || token === ']') result += lineAt(--depth) + token;
    else if (token === ',') result += token + lineAt(depth);
    else if (token === ':') result += ': ';
    else result += /^[{[]/.test(token) ? token.charAt(0) + token.slice(-1) : token;
  }
  return result;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Deeper than a page is wide nothing is gained, and the text would grow with the square of its depth. */
function lineAt(depth: number): string {
  return `\n${'  '.repeat(Math.min(depth, 40))}`;
}
