/** The process that is started: settings in, a listening service out (CONTRACT, section 4). */
import { processesOf, type Config } from './config.ts';

/** Starts the service and returns once it listens. Throws `ConfigError` or `UnusableRootError` with one clear line. */
export async function startService(config: Config): Promise<void> {
  // Either without the weight of the other.
  if (processesOf(config) === 1) await (await import('./service.ts')).serveAlone(config);
  else await (await import('./supervisor.ts')).serveTogether(config);
}
