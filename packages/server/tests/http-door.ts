import { afterAll, beforeAll } from 'vitest';
import { loadConfig } from '../../core/src/config/load.js';
import { Pungi } from '../../core/src/pungi.js';
import { type HttpDoor, startHttp } from '../src/http.js';
import { NO_ENVIRONMENTS } from './doors.js';

/** One HTTP door with defaults for the whole file; its parts are there once the tests run. */
export function sharedHttpDoor(): { pungi: Pungi; door: HttpDoor } {
  const shared = {} as { pungi: Pungi; door: HttpDoor };
  beforeAll(async () => {
    shared.pungi = Pungi.start(loadConfig({ env: NO_ENVIRONMENTS }), undefined, 'server');
    shared.door = await startHttp(shared.pungi);
  });
  afterAll(async () => {
    await shared.door.close();
    await shared.pungi.close();
  });
  return shared;
}
