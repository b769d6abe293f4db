/** Findings at their position in a draft, with example inputs to simulate. */
import { Anchor, Text } from '@mantine/core'
import type { Finding } from '#console/ui/decision/definition-kind.ts'
import { describeExample } from './describe-example.ts'
import { useDraftContext } from './draft-context.ts'

/** The text of findings at exactly this pointer, for a field that shows them itself. */
export function getFaultText(findings: readonly Finding[], pointer: string): string | undefined {
  const found = findings.filter((finding) => finding.pointer === pointer)
  return found.length === 0 ? undefined : found.map(({ message }) => message).join(' ')
}

/** Whether there is a finding at or below a pointer. */
export const hasFaults = (findings: readonly Finding[], pointer: string): boolean =>
  findings.some((finding) => finding.pointer === pointer || finding.pointer.startsWith(`${pointer}/`))

interface FaultsProps {
  readonly findings: readonly Finding[]
  /** For a table: the inputs of its columns. */
  readonly columns?: readonly string[]
}

export function Faults({ findings, columns = [] }: FaultsProps) {
  const { inputs, onTry } = useDraftContext()
  if (findings.length === 0) return null
  return (
    <ul className="faults plain-list">
      {findings.map(({ code, pointer, severity, message, example }, place) => (
        <li key={`${code} ${pointer} ${place}`} data-severity={severity}>
          <Text size="sm">
            {severity === 'warning' && <b>Warning. </b>}
            {message}
          </Text>
          {example && Object.keys(example).length > 0 && (
            <Text size="xs" component="div">
              For example if {describeExample(example, inputs, columns)}.{' '}
              <Anchor component="button" type="button" size="xs" onClick={() => onTry(example)}>
                Simulate
              </Anchor>
            </Text>
          )}
        </li>
      ))}
    </ul>
  )
}
