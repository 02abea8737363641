import type { Attack } from './attack.js';
import { ARTIFACTS } from './attacks/artifacts.js';
import { CHECKPOINTS } from './attacks/checkpoints.js';
import { COMBINED } from './attacks/combined.js';
import { CONTROL_CHANNEL } from './attacks/control-channel.js';
import { CPU_BOMBS } from './attacks/cpu-bombs.js';
import { DEVICES } from './attacks/devices.js';
import { DISK_BOMBS } from './attacks/disk-bombs.js';
import { DISPLAYS } from './attacks/displays.js';
import { ENDINGS } from './attacks/endings.js';
import { FILE_ATTRIBUTES } from './attacks/file-attributes.js';
import { FILE_LOCKS } from './attacks/file-locks.js';
import { HIDDEN } from './attacks/hidden.js';
import { HOST_FILES } from './attacks/host-files.js';
import { KERNEL } from './attacks/kernel.js';
import { KERNEL_EXTREMES } from './attacks/kernel-extremes.js';
import { KERNEL_OBJECTS } from './attacks/kernel-objects.js';
import { LINGERING } from './attacks/lingering.js';
import { LOOPBACK } from './attacks/loopback.js';
import { MEMORY_BOMBS } from './attacks/memory-bombs.js';
import { MOVING_FILES } from './attacks/moving-files.js';
import { NAMES } from './attacks/names.js';
import { NETWORK } from './attacks/network.js';
import { OTHER_PROCESSES } from './attacks/other-processes.js';
import { OUTPUT_BOMBS } from './attacks/output-bombs.js';
import { PROCESS_BOMBS, SHARED_BOMBS } from './attacks/process-bombs.js';
import { REQUESTS } from './attacks/requests.js';
import { SESSIONS } from './attacks/sessions.js';
import { SHARED_NAMES } from './attacks/shared-names.js';
import { SYSTEM_CALLS } from './attacks/system-calls.js';
import { TEXT } from './attacks/text.js';

/** The attack table: one row an attack, by what it goes for. */
export const ATTACKS: readonly Attack[] = [
  ...HOST_FILES,
  ...REQUESTS,
  ...NETWORK,
  ...LOOPBACK,
  ...DEVICES,
  ...FILE_ATTRIBUTES,
  ...FILE_LOCKS,
  ...SHARED_NAMES,
  ...OTHER_PROCESSES,
  ...KERNEL,
  ...SYSTEM_CALLS,
  ...PROCESS_BOMBS,
  ...SHARED_BOMBS,
  ...MEMORY_BOMBS,
  ...KERNEL_OBJECTS,
  ...KERNEL_EXTREMES,
  ...HIDDEN,
  ...CPU_BOMBS,
  ...DISK_BOMBS,
  ...MOVING_FILES,
  ...OUTPUT_BOMBS,
  ...COMBINED,
  ...LINGERING,
  ...CONTROL_CHANNEL,
  ...DISPLAYS,
  ...SESSIONS,
  ...CHECKPOINTS,
  ...ARTIFACTS,
  ...ENDINGS,
  ...TEXT,
  ...NAMES,
];
