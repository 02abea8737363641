export { checkObject, checkOptions, checkText } from './arguments.js';
export { ERROR_CODES, type ErrorCode, PungiError } from './errors.js';
export {
  discardDraft,
  draftOf,
  fileProblem,
  makeFolders,
  readBounded,
  settleDraft,
  stateFolder,
  withoutMark,
  writeAtomically,
  writeWhole,
} from './files.js';
export { imageSize } from './image-size.js';
export { type Fault, faultsOf, jsonFaults, similarName } from './issue-text.js';
export { isShallowJson, isWithin, measureJson } from './json-extent.js';
export { createLogger, type Logger, type LogSettings, silentLogger } from './logger.js';
export { sha256 } from './sha256.js';
export {
  agoText,
  countText,
  cutTo,
  durationText,
  type Format,
  indent,
  LiveLine,
  oneLine,
  type Printed,
  printable,
  revealed,
  revealedLine,
  type Style,
  sizeText,
  styleFor,
  widthOf,
} from './terminal.js';
export { letOthersGo, Semaphore, within } from './turns.js';
export { PACKAGE_ROOT, VERSION } from './version.js';
