/** Marks a decision that was made on answers of a provider that were not live. */
import { Badge, Tooltip } from '@mantine/core'
import { isTestDecision, TEST_DECISION_TEXT } from './is-test.ts'

export function TestMark({ of }: { readonly of: object }) {
  if (!isTestDecision(of)) return null
  return (
    <Tooltip label={TEST_DECISION_TEXT} events={{ hover: true, focus: true, touch: true }}>
      <Badge variant="light" color="yellow" tt="none" miw="max-content" tabIndex={0}>
        Test
      </Badge>
    </Tooltip>
  )
}
