/** For tests: another engine, beside the ones there are. It means the same as engine 1, but says one reason code more. */
import { engine1 } from '#decision/engine-1/engine.ts'
import type { Engine } from '#decision/model.ts'

export const engineWithExtraReason: Engine = {
  ...engine1,
  engine: 3,
  compile: (definition) => {
    const compiled = engine1.compile(definition)
    return {
      ...compiled,
      engine: 3,
      bind: (lists) => {
        const bound = compiled.bind(lists)
        if (!('decide' in bound)) return bound
        return {
          decide: (inputs, more) => {
            const decision = bound.decide(inputs, more)
            if (!decision.ok) return decision
            const { outcome } = decision
            return { ...decision, outcome: { ...outcome, reason_codes: [...outcome.reason_codes, 'LOUD'] } }
          },
        }
      },
    }
  },
}
