/**
 * Answers each message of the parent with a reply, and ends with it.
 * @param {(task: any) => unknown} reply
 * @param {unknown} [greeting] tells the parent that all is ready
 */
export function serveParent(reply, greeting = 'ready') {
  process.on('message', async (task) => process.send?.(await reply(task)));
  process.on('disconnect', () => process.exit());
  process.send?.(greeting);
}
