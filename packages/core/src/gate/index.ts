export { ceilingsOf, LimitRules, limitsOf, tighten } from './limits.js';
export { BUILT_IN, CAPABILITIES } from './profiles/built-in.js';
export { checkProfiles, type FurtherCheck, type ProfilesCheck } from './profiles/check-profiles.js';
export type { Chain, ProfileSource } from './profiles/inherit.js';
export { loadProfiles, profilesFileOf } from './profiles/load-profiles.js';
export { type ProfileProblem, problemText, type RuleProblem } from './profiles/problem.js';
export { isPersona, isStrategic, type Profiles } from './profiles/profiles.js';
export { pointToSibling, readBelow, readScript } from './script-file.js';
export { tooMany } from './too-many.js';
