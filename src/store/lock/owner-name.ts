const OWNER = /^([0-9a-f]{12})-(\d+)-(\d+)-[0-9a-f]{16}$/;

/** The parts of an owner's name; `undefined` where a text is none. */
export function partsOf(owner: string): { where: string; pid: number; start: string } | undefined {
  const [, where, pid, start] = OWNER.exec(owner) ?? [];
  return where === undefined || start === undefined ? undefined : { where, pid: Number(pid), start };
}

/** Whether a text is an owner's name. */
export function isOwner(text: string): boolean {
  return OWNER.test(text);
}
