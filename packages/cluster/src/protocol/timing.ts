/** Heartbeats of workers and front ends. */
export const BEAT_MS = 400;
/** A worker that is silent for so long is lost: with the time between two looks, within two seconds. */
export const WORKER_SILENCE_MS = 1500;
/** A worker ends the runs of a front end that is silent for so long. */
export const FRONT_SILENCE_MS = 3000;
/** Whoever waits for a change of what is stored looks at it so often. */
export const LOOK_MS = 200;
/**
 * A claimed slot that gets no run is free again after this. It is shorter than the silence after which a worker is lost, less one
 * heartbeat: a worker that goes on after it was reported as lost starts nothing that it had been sent.
 */
export const LEASE_MS = 1000;
/** While the inputs of a run are stored, its lease is renewed so often. */
export const HOLD_MS = 250;
/** A front end names the sessions that it has at a worker so often. */
export const KEEP_MS = 2000;
/** A session that was not named for so long ends: the order to end it was lost. */
export const UNNAMED_MS = 4 * KEEP_MS;
/** A worker answers an offer within this time, at least that it has taken it. */
export const OFFER_MS = 1000;
/** Where no notice of a free slot arrives, offers are repeated after this. */
export const OFFER_AGAIN_MS = 250;
/** What was not answered or acknowledged is sent again after this. */
export const AGAIN_MS = 500;
/** A worker that prepares for a run it was offered is waited for so long; then the run is offered again. */
export const PREPARE_MS = 10_000;
/** A worker starts a run in a slot that it has reserved within this time, and that of fetching the inputs. */
export const START_MS = 5000;
/** At least so much of stored inputs is fetched in a millisecond. */
export const LOAD_BYTES_PER_MS = 100;
/** A worker answers, and reports the end of a run after its deadline, or after it was cancelled, within this time. */
export const OVERDUE_MS = 15_000;
/** A front end that does not reach NATS for so long gives up what has no time of its own, and runs whose time is over. */
export const OUTAGE_MS = 15_000;
/** A run waits so long for a worker that has its environment before another one builds it. */
export const SPILL_MS = 500;
/** A worker builds an environment within this time. */
export const BUILD_MS = 15 * 60_000;
/** The holder of a lease renews it so often. */
export const RENEW_MS = 500;
/** A lease whose revision did not change during so many looks of `LOOK_MS` is taken over. */
export const TAKEOVER_LOOKS = 15;
/** A change waits so long for a worker. */
export const CHANGE_WAIT_MS = 10_000;
/** What a worker may have sent and the front end not acknowledged, of one run. */
export const WINDOW_BYTES = 1024 * 1024;
/** A front end publishes the head of its audit trail at most so often. */
export const CHECKPOINT_MS = 1000;
/** A front end looks for new profiles so often. */
export const PROFILES_MS = 1000;
