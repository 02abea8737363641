export { backgroundTimeoutMs, ceilingsOf, LimitRules, limitsOf, tighten } from './limits.js';
export { parsePresent, parseRequest, tooMany } from './parse-request.js';
export { checkProfiles, type FurtherCheck, type ProfilesCheck } from './profiles/check-profiles.js';
export {
  type Chain,
  type ProfileProblem,
  type ProfileSource,
  problemText,
  type RuleProblem,
} from './profiles/inherit.js';
export { connectShared, loadProfiles, profilesFileOf, readDefinitions } from './profiles/load-profiles.js';
export { BUILT_IN, CAPABILITIES, isPersona, isStrategic, type Profiles } from './profiles/profiles.js';
export { pointToFiles, readBelow, readScript } from './script-file.js';
