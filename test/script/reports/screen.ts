/** A minimal terminal: it wraps lines, moves the cursor, erases, and reflows when it is resized. */
export class Screen {
  #rows: { text: string; isWrapped: boolean }[] = [{ text: '', isWrapped: false }];
  #row = 0;
  #column = 0;

  constructor(public width: number) {}

  /** The visible content without trailing empty lines. */
  get lines(): string[] {
    const lines = this.#rows.map(({ text }) => text.trimEnd());
    while (lines.at(-1) === '') lines.pop();
    return lines;
  }

  get cursor(): [row: number, column: number] {
    return [this.#row, this.#column];
  }

  write(text: string): void {
    // biome-ignore lint/complexity/useRegexLiterals: an escape in a literal is harder to read
    for (const [token, count, name] of text.matchAll(new RegExp('\\u001b\\[(\\d*)([A-Za-z])|[\\s\\S]', 'gu'))) {
      if (name !== undefined) this.#obey(name, count === '' ? undefined : Number(count));
      else if (token === '\n') this.#newLine();
      else if (token === '\r') this.#column = 0;
      else if (token < ' ' || token === '\u007f') throw new Error(`a control character: ${JSON.stringify(token)}`);
      else this.#put(token);
    }
  }

  resize(width: number): void {
    const joined: string[] = [];
    let open = false;
    for (const { text, isWrapped } of this.#rows) {
      if (open) joined.push((joined.pop() ?? '') + text);
      else joined.push(text);
      open = isWrapped;
    }
    this.width = width;
    this.#rows = joined.flatMap((line) => {
      const parts = line.match(new RegExp(`.{1,${width}}`, 'gu')) ?? [''];
      return parts.map((text, index) => ({ text, isWrapped: index < parts.length - 1 }));
    });
    this.#row = this.#rows.length - 1;
  }

  #obey(name: string, count: number | undefined): void {
    const row = this.#rows[this.#row] ?? { text: '', isWrapped: false };
    if (name === 'A') this.#row = Math.max(0, this.#row - (count ?? 1));
    else if (name === 'B') this.#row = Math.min(this.#rows.length - 1, this.#row + (count ?? 1));
    else if (name === 'K') row.text = row.text.slice(0, this.#column);
    else if (name === 'J') {
      row.text = row.text.slice(0, this.#column);
      row.isWrapped = false;
      this.#rows.length = this.#row + 1;
    } else if (name !== 'm') throw new Error(`an unknown escape: ${name}`);
  }

  #newLine(): void {
    this.#row++;
    this.#column = 0;
    if (this.#row === this.#rows.length) this.#rows.push({ text: '', isWrapped: false });
  }

  #put(char: string): void {
    if (this.#column >= this.width) {
      const full = this.#rows[this.#row];
      if (full !== undefined) full.isWrapped = true;
      this.#newLine();
    }
    const row = this.#rows[this.#row];
    if (row === undefined) return;
    row.text = row.text.slice(0, this.#column).padEnd(this.#column) + char + row.text.slice(this.#column + 1);
    this.#column++;
  }
}
