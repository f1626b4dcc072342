import { visible } from './visible.ts';

const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Text that is safe between tags and in quotes, with nothing in it that cannot be seen. */
export function escapeHtml(text: string): string {
  return visible(text).replace(/[&<>"']/g, (char) => names[char] ?? char);
}
