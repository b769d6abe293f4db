/** Says that a person entered an answer in place of the provider, and why. */
import { Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { Principal } from '#console/ui/principal.tsx'

export const EnteredAnswer = ({ of: { entered_by, reason } }: { readonly of: Schemas['AnswerAuthor'] }) => (
  <Text size="xs" component="div" className="break">
    Answer entered by <Principal of={entered_by} isAlwaysNamed />
    {reason !== null && `, because: “${reason}”`}
  </Text>
)
