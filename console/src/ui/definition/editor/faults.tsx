/** Faults at their place in a draft: in words, with the inputs that show them, and a way to try those. */
import { Anchor, Text } from '@mantine/core'
import type { Finding } from '#console/ui/decision/definition-kind.ts'
import { describeExample } from './describe-example.ts'
import { useDraftContext } from './draft-context.ts'

/** The words of the faults exactly there, for a field that shows them itself. */
export function getFaultText(findings: readonly Finding[], pointer: string): string | undefined {
  const found = findings.filter((finding) => finding.pointer === pointer)
  return found.length === 0 ? undefined : found.map(({ message }) => message).join(' ')
}

/** Whether there is a fault at a place or anywhere below it. */
export const hasFaults = (findings: readonly Finding[], pointer: string): boolean =>
  findings.some((finding) => finding.pointer === pointer || finding.pointer.startsWith(`${pointer}/`))

interface FaultsProps {
  readonly findings: readonly Finding[]
  /** Of a table: what it reads. */
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
              For example when {describeExample(example, inputs, columns)}.{' '}
              <Anchor component="button" type="button" size="xs" onClick={() => onTry(example)}>
                Try it
              </Anchor>
            </Text>
          )}
        </li>
      ))}
    </ul>
  )
}
