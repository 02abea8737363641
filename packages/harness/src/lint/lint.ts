import { UriTemplate } from '@modelcontextprotocol/client';
import { nameOf, type Offer, textIn } from '../init/offer.js';
import { isMap, itemsOf, type JsonMap } from '../judge/answer.js';
import {
  type LintRemark,
  lintDescription,
  lintHidden,
  lintTool,
  type Report,
  type Severity,
} from './lint-tool.js';

const ORDER: readonly Severity[] = ['error', 'warning', 'advice'];
const MANY_CHARACTERS = 30_000;
const MANY_TOOLS = 60;
const LONGEST_NAME = 128;
/** The limit per list: nobody reads remarks about more. */
const MAX_CHECKED = 1000;

/** All remarks about what a server offers, the most severe first. */
export function lint(offer: Offer): LintRemark[] {
  const remarks: LintRemark[] = [];
  const about =
    (subject: string): Report =>
    (severity, rule, message) =>
      remarks.push({ severity, rule, subject, message });
  lintServer(offer, about('server'));
  const { tools, prompts, resources, templates } = offer;
  for (const tool of first(tools)) lintTool(tool, about(`tool ${nameOf(tool)}`));
  for (const prompt of first(prompts)) lintPrompt(prompt, about(`prompt ${nameOf(prompt)}`));
  for (const one of first(resources)) lintResource(one, about(`resource ${textIn(one, 'uri')}`));
  for (const one of first(templates)) lintTemplate(one, about(`template ${textIn(one, 'uriTemplate')}`));
  return remarks.sort((one, other) => ORDER.indexOf(one.severity) - ORDER.indexOf(other.severity));
}

const first = (list: readonly JsonMap[]) => list.slice(0, MAX_CHECKED);

function lintServer(offer: Offer, report: Report): void {
  const { server, tools, prompts, resources, templates, capabilities, instructions, problems } = offer;
  for (const problem of problems) report('error', 'lists', `${problem}.`);
  if (server.name === '' || server.name === 'unknown') report('error', 'server-info', 'It has no name.');
  if (server.version === '') report('warning', 'server-info', 'It has no version.');
  if (instructions !== undefined) lintHidden(instructions, 'Its instructions', report);
  for (const [what, names] of [
    ['tools', tools.map(nameOf)],
    ['prompts', prompts.map(nameOf)],
    ['resources', resources.map((one) => textIn(one, 'uri'))],
  ] as const)
    for (const name of twice(names))
      report('error', 'twice', `Two of its ${what} have the name ${JSON.stringify(name)}.`);
  const spellings = tools.map((tool) => spellingOf(nameOf(tool))).filter((one) => one !== undefined);
  if (new Set(spellings).size > 1)
    report(
      'advice',
      'spelling',
      `The names of its tools mix several styles: ${[...new Set(spellings)].join(', ')}.`,
    );
  if (capabilities['tools'] !== undefined && tools.length === 0 && problems.length === 0)
    report('advice', 'lists', 'It advertises tools but has none.');
  if (
    capabilities['resources'] !== undefined &&
    resources.length + templates.length === 0 &&
    problems.length === 0
  )
    report('advice', 'lists', 'It advertises resources but has none.');
  for (const list of [tools, prompts, resources, templates])
    if (list.length > MAX_CHECKED)
      report('warning', 'size', `Only the first ${MAX_CHECKED} of a list of ${list.length} were checked.`);
  const size = JSON.stringify(tools).length;
  if (tools.length > MANY_TOOLS)
    report('advice', 'size', `It has ${tools.length} tools; models choose better among fewer.`);
  if (size > MANY_CHARACTERS)
    report(
      'advice',
      'size',
      `The descriptions of its tools have ${size} characters, which cost tokens in every request to a model.`,
    );
}

function lintPrompt(prompt: JsonMap, report: Report): void {
  if (nameOf(prompt) === '') report('error', 'name', 'It has no name.');
  lintDescription(prompt['description'], 'the prompt', report);
  const given = itemsOf(prompt['arguments']);
  for (const name of twice(given.map(nameOf)))
    report('error', 'twice', `Two of its arguments have the name "${name}".`);
  for (const one of given)
    if (textIn(one, 'description').trim() === '')
      report('warning', 'parameter-description', `The argument "${nameOf(one)}" has no description.`);
    else lintHidden(textIn(one, 'description'), `The description of the argument "${nameOf(one)}"`, report);
}

function lintResource(resource: JsonMap, report: Report): void {
  if (!URL.canParse(textIn(resource, 'uri')))
    report('error', 'uri', 'Its uri is not valid: a scheme is missing, such as file:.');
  lintDescribed(resource, 'the resource', report);
}

function lintTemplate(template: JsonMap, report: Report): void {
  const text = textIn(template, 'uriTemplate');
  try {
    new UriTemplate(text);
    if (!UriTemplate.isTemplate(text))
      report('warning', 'uri', 'Its template has no variable: make it a resource.');
  } catch (error) {
    report('error', 'uri', `Its template is not valid (RFC 6570): ${(error as Error).message}.`);
  }
  lintDescribed(template, 'the template', report);
}

function lintDescribed(one: JsonMap, what: string, report: Report): void {
  if (nameOf(one) === '') report('error', 'name', 'It has no name.');
  if (textIn(one, 'description') === '') report('advice', 'description', `${what} has no description.`);
  else lintHidden(textIn(one, 'description'), `The description of ${what}`, report);
  if (one['mimeType'] === undefined) report('advice', 'mime-type', 'It has no mimeType.');
  if (one['annotations'] !== undefined && !isMap(one['annotations']))
    report('error', 'annotations', 'Its annotations are not an object.');
}

function twice(names: readonly string[]): Set<string> {
  const once = new Set<string>();
  const again = new Set<string>();
  for (const name of names) {
    if (name !== '' && once.has(name)) again.add(name);
    once.add(name);
  }
  return again;
}

/** The style of a name with more than one word. */
function spellingOf(name: string): string | undefined {
  // Longer names are invalid, and matching them takes too long.
  if (name.length > LONGEST_NAME) return undefined;
  if (/^[a-z\d]+(_[a-z\d]+)+$/.test(name)) return 'snake_case';
  if (/^[a-z\d]+(-[a-z\d]+)+$/.test(name)) return 'kebab-case';
  if (/^[a-z]+[a-z\d]*([A-Z][a-z\d]*)+$/.test(name)) return 'camelCase';
  return undefined;
}
