import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pages, readPage, root } from './blocks.ts';

/** A page without its code, where brackets are not links. */
function proseOf(page: string): string {
  return readPage(page)
    .replace(/^( *)```.*?^\1```$/gms, '')
    .replace(/`[^`\n]*`/g, '');
}

/** The targets of links and images: inline, by reference, and in HTML. */
function targetsOf(page: string): string[] {
  const prose = proseOf(page);
  const inline = [...prose.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)];
  const definitions = [...prose.matchAll(/^\[(?!\^)[^\]]+\]:\s*<?(\S+?)>?$/gm)];
  const html = [...prose.matchAll(/\b(?:href|src|srcset)="([^"]+)"/g)];
  return [...inline, ...definitions, ...html].map(([, target = '']) => target);
}

/** The anchors that GitHub generates for the headings of a page. */
function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>();
  const headings = readPage(page)
    .replace(/^( *)```.*?^\1```$/gms, '')
    .matchAll(/^#{1,6} +(.*)$/gm);
  for (const [, heading = ''] of headings) {
    const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '');
    const slug = text
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

describe('links in the documentation', () => {
  const links = pages.flatMap((page) => targetsOf(page).map((target) => ({ page, target })));
  const isExternal = ({ target }: { target: string }): boolean => /^[a-z][a-z+.-]*:/i.test(target);

  it('point to existing files and headings', () => {
    const broken = links.filter((link) => {
      if (isExternal(link)) return false;
      const [path = '', anchor] = link.target.split('#');
      const file = path === '' ? link.page : normalize(join(dirname(link.page), decodeURI(path)));
      if (!existsSync(join(root, file))) return true;
      return anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).has(decodeURIComponent(anchor));
    });
    expect(links.length).toBeGreaterThan(100);
    expect(broken).toEqual([]);
  });

  it('to other sites are complete https URLs', () => {
    const invalid = links.filter(isExternal).filter(({ target }) => {
      if (!URL.canParse(target)) return true;
      const { protocol, hostname } = new URL(target);
      return protocol !== 'https:' || !/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(hostname);
    });
    expect(invalid).toEqual([]);
  });

  it('by reference and footnotes are defined', () => {
    const missing = pages.flatMap((page) => {
      const prose = proseOf(page);
      const defined = new Set([...prose.matchAll(/^\[([^\]]+)\]:/gm)].map(([, name]) => name?.toLowerCase()));
      const used = [...prose.matchAll(/\]\[([^\]]+)\]|\[(\^[^\]]+)\](?!:)/g)].map(
        ([, name, note]) => name ?? note ?? '',
      );
      return used.filter((name) => !defined.has(name.toLowerCase())).map((name) => `${page}: ${name}`);
    });
    expect(missing).toEqual([]);
  });

  it('include a picture of a terminal without tokens and external resources', () => {
    const picture = readPage('docs/images/terminal.svg');
    expect(readPage('README.md')).toContain('](docs/images/terminal.svg)');
    expect(picture).toContain('oauth-profile token');
    expect(picture).not.toMatch(/eyJ|example of a|href|url\(|<script/);
  });

  it('reach every page from the index', () => {
    const reached = new Set(
      targetsOf('docs/README.md').map((target) => normalize(join('docs', target.split('#')[0] ?? ''))),
    );
    const left = pages.filter((page) => page.startsWith('docs/') && !reached.has(page));
    expect(left).toEqual(['docs/README.md']);
  });
});
