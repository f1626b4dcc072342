// Runs a script of assertions and sends the processor time that it took, in milliseconds.
import { runScript } from '../../dist/script.js';
import { serveParent } from './child-process.js';

serveParent(async (/** @type {{ steps: number }} */ { steps }) => {
  const script = {
    data: { order: { id: 7, state: 'open' } },
    steps: Array.from({ length: steps }, () => ({ 'base.assertEqual': ['open', '${order.state}'] })),
  };
  const before = process.cpuUsage();
  const { counts } = await runScript(script, { store: 'memory' });
  const { user, system } = process.cpuUsage(before);
  if (counts.passed !== steps) throw new Error(`${counts.passed} of ${steps} assertions passed`);
  return (user + system) / 1000;
});
