/** Marks what was made on answers of a provider that were not live: a decision, a case, an item of evidence. */
import { Badge, Tooltip } from '@mantine/core'
import { isTestDecision, TEST_DECISION_TEXT } from './is-test.ts'

interface TestMarkProps {
  readonly of: object
  readonly text?: string
}

export function TestMark({ of, text = TEST_DECISION_TEXT }: TestMarkProps) {
  if (!isTestDecision(of)) return null
  return (
    <Tooltip label={text} events={{ hover: true, focus: true, touch: true }}>
      <Badge variant="light" color="yellow" tt="none" miw="max-content" tabIndex={0}>
        Test
      </Badge>
    </Tooltip>
  )
}
