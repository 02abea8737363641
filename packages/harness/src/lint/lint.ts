import { UriTemplate } from '@modelcontextprotocol/client';
import { nameOf, type Offer, textIn } from '../init/offer.js';
import { isMap, itemsOf, type JsonMap } from '../judge/answer.js';
import { lintTool } from './lint-tool.js';
import { type LintRemark, lintDescription, lintHidden, type Severity, type Tell } from './remark.js';

const ORDER: readonly Severity[] = ['error', 'warning', 'advice'];
const MANY_CHARACTERS = 30_000;
const MANY_TOOLS = 60;
const LONGEST_NAME = 128;
/** Of each list: nobody reads the remarks about more. */
const MOST_LOOKED_AT = 1000;

/** All that there is to say about what a server offers, the worst first. */
export function lint(offer: Offer): LintRemark[] {
  const remarks: LintRemark[] = [];
  const about =
    (subject: string): Tell =>
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

const first = (list: readonly JsonMap[]) => list.slice(0, MOST_LOOKED_AT);

function lintServer(offer: Offer, tell: Tell): void {
  const { server, tools, prompts, resources, templates, capabilities, instructions, problems } = offer;
  for (const problem of problems) tell('error', 'lists', `${problem}.`);
  if (server.name === '' || server.name === 'unknown')
    tell('error', 'server-info', 'It does not say its name.');
  if (server.version === '') tell('warning', 'server-info', 'It does not say its version.');
  if (instructions !== undefined) lintHidden(instructions, 'Its instructions', tell);
  for (const [what, names] of [
    ['tools', tools.map(nameOf)],
    ['prompts', prompts.map(nameOf)],
    ['resources', resources.map((one) => textIn(one, 'uri'))],
  ] as const)
    for (const name of twice(names))
      tell('error', 'twice', `Two of its ${what} are called ${JSON.stringify(name)}.`);
  const spellings = tools.map((tool) => spellingOf(nameOf(tool))).filter((one) => one !== undefined);
  if (new Set(spellings).size > 1)
    tell(
      'advice',
      'spelling',
      `The names of its tools are spelt in several ways: ${[...new Set(spellings)].join(', ')}.`,
    );
  if (capabilities['tools'] !== undefined && tools.length === 0 && problems.length === 0)
    tell('advice', 'lists', 'It advertises tools, and has none.');
  if (
    capabilities['resources'] !== undefined &&
    resources.length + templates.length === 0 &&
    problems.length === 0
  )
    tell('advice', 'lists', 'It advertises resources, and has none.');
  for (const list of [tools, prompts, resources, templates])
    if (list.length > MOST_LOOKED_AT)
      tell('warning', 'size', `Of a list of ${list.length}, the first ${MOST_LOOKED_AT} were looked at.`);
  const size = JSON.stringify(tools).length;
  if (tools.length > MANY_TOOLS)
    tell('advice', 'size', `It has ${tools.length} tools; models choose better among fewer.`);
  if (size > MANY_CHARACTERS)
    tell(
      'advice',
      'size',
      `Its tools take ${size} characters to describe, which every request to a model pays for.`,
    );
}

function lintPrompt(prompt: JsonMap, tell: Tell): void {
  if (nameOf(prompt) === '') tell('error', 'name', 'It has no name.');
  lintDescription(prompt['description'], 'the prompt', tell);
  const given = itemsOf(prompt['arguments']);
  for (const name of twice(given.map(nameOf)))
    tell('error', 'twice', `Two of its arguments are called "${name}".`);
  for (const one of given)
    if (textIn(one, 'description').trim() === '')
      tell('warning', 'parameter-description', `The argument "${nameOf(one)}" has no description.`);
    else lintHidden(textIn(one, 'description'), `The description of the argument "${nameOf(one)}"`, tell);
}

function lintResource(resource: JsonMap, tell: Tell): void {
  if (!URL.canParse(textIn(resource, 'uri')))
    tell('error', 'uri', 'Its uri is none: a scheme is missing, such as file:.');
  lintDescribed(resource, 'the resource', tell);
}

function lintTemplate(template: JsonMap, tell: Tell): void {
  const text = textIn(template, 'uriTemplate');
  try {
    new UriTemplate(text);
    if (!UriTemplate.isTemplate(text))
      tell('warning', 'uri', 'Its template has no variable: it is a resource.');
  } catch (error) {
    tell('error', 'uri', `Its template is none (RFC 6570): ${(error as Error).message}.`);
  }
  lintDescribed(template, 'the template', tell);
}

function lintDescribed(one: JsonMap, what: string, tell: Tell): void {
  if (nameOf(one) === '') tell('error', 'name', 'It has no name.');
  if (textIn(one, 'description') === '') tell('advice', 'description', `${what} has no description.`);
  else lintHidden(textIn(one, 'description'), `The description of ${what}`, tell);
  if (one['mimeType'] === undefined) tell('advice', 'mime-type', 'It does not say its mimeType.');
  if (one['annotations'] !== undefined && !isMap(one['annotations']))
    tell('error', 'annotations', 'Its annotations are no object.');
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

/** Of names that have more than one word. */
function spellingOf(name: string): string | undefined {
  // No name may be so long, and patterns take the longer for it.
  if (name.length > LONGEST_NAME) return undefined;
  if (/^[a-z\d]+(_[a-z\d]+)+$/.test(name)) return 'snake_case';
  if (/^[a-z\d]+(-[a-z\d]+)+$/.test(name)) return 'kebab-case';
  if (/^[a-z]+[a-z\d]*([A-Z][a-z\d]*)+$/.test(name)) return 'camelCase';
  return undefined;
}
