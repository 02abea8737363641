import { completable } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { CAPABILITIES } from '../../gate/profiles/built-in.js';
import type { Profiles } from '../../gate/profiles/profiles.js';
import { aboutPersona, usablePersonas } from '../tools/describe-profiles.js';
import { asArgument } from './arguments.js';
import { prompt } from './prompt.js';

const oneOf = (known: readonly string[], about: string) =>
  completable(z.string().describe(`${about}: ${known.join(', ')}`), (begun) =>
    known.filter((name) => name.startsWith(begun ?? '')),
  );

export const strategicAnalysis = (profiles: Profiles) => {
  const personas = usablePersonas(profiles);
  return prompt({
    name: 'strategic-analysis',
    title: 'Analyze strategically',
    description: 'Answer a question of strategy from figures, as one of the personas.',
    argsSchema: z.object({
      persona: oneOf(
        personas.map(({ name }) => name),
        'whose analysis it is',
      ),
      capability: oneOf(CAPABILITIES, 'what it is for').optional(),
      question: z.string().describe('what is to be decided or understood'),
    }),
    word: ({ persona, capability, question }) => {
      const known = personas.find(({ name }) => name === persona);
      const who = known === undefined ? '' : ` The persona is ${aboutPersona(known)}.`;
      const args = [
        asArgument('persona', persona),
        ...(capability ? [asArgument('capability', capability)] : []),
      ];
      return [
        `Answer this question with execute_strategic_code (${args.join(', ')}):`,
        question,
        '',
        `- See with list_profiles what code of "${persona}" may import and which data it finds.${who}`,
        '- Hand figures over in context, and print or return tables and figures, not prose.',
        '- Code that leaves the scope is refused with its line and the reason: write it without that.',
        '- Answer from what the code gave: the result first, then how it follows, then what it takes for granted.',
        '- Show the disclosure that the reply begins with.',
      ].join('\n');
    },
  });
};
