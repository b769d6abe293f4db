/** Finds defaults that the lists in force do not allow: an absent input would be refused. */
import type { BoundDefinition, Definition, Finding } from '../model.ts'
import type { ExampleFinder } from './examples.ts'

export function analyseDefaults({ inputs }: Definition, bound: BoundDefinition, examples: ExampleFinder): Finding[] {
  return inputs.flatMap((input, index): Finding[] => {
    if (input.default === undefined || !input.one_of) return []
    const { [input.name]: _, ...example } = examples.usual
    const decision = bound.decide(example)
    const refuses = ({ code, pointer }: Finding) => code === 'input_not_allowed' && pointer.split('/')[1] === input.name
    const refused = decision.ok ? undefined : decision.findings.find(refuses)
    if (!refused) return []
    const message = `When it is left out: ${refused.message}`
    return [{ code: 'default_not_allowed', pointer: `/inputs/${index}/default`, message, severity: 'error', example }]
  })
}
