/** The gates that block a change, with the reason of each and whether it can be overridden. */
import { Alert, Text } from '@mantine/core'
import type { ProbityProblem, Schemas } from '@probity/client'
import { toSentence } from './format.ts'
import { Icon } from './icons.tsx'

type Gate = Schemas['Gate']

export function getGates(problem: ProbityProblem | null): readonly Gate[] {
  const gates = problem?.members['gates']
  return Array.isArray(gates) ? (gates as Gate[]) : []
}

/** How many stored payloads a version of a source contract would quarantine; 0 without such a gate. */
export function getLostPayloads(gates: readonly Gate[]): number {
  const counts = gates.flatMap(({ facts }) => {
    const { lost } = (facts ?? {}) as { lost?: unknown }
    return typeof lost === 'number' ? [lost] : []
  })
  return Math.max(0, ...counts)
}

export function Gates({ gates }: { readonly gates: readonly Gate[] }) {
  if (gates.length === 0) return null
  return (
    <Alert color="orange" icon={<Icon name="warning" />} title="Blocked by" role="status">
      <ul className="plain-list">
        {gates.map(({ gate, detail, overridable }) => (
          <li key={`${gate} ${detail}`}>
            <Text size="sm">
              <b>{toSentence(gate)}.</b> {detail}{' '}
              <span className="quiet">
                {overridable ? 'A compliance officer can override this.' : 'This cannot be overridden.'}
              </span>
            </Text>
          </li>
        ))}
      </ul>
    </Alert>
  )
}
