export {
  type BackgroundRuns,
  DAMAGED,
  type FoundRun,
  lostOutcome,
  MOST_WAIT_MS,
  notFound,
  type SharedBackground,
  STOPPED,
  stoppedOutcome,
  tooMany,
} from '../background.js';
export { LiveRun, newHandle } from './live-run.js';
export { isHandle, withoutDisplays } from './run-store.js';
