/** The changes of a delta file relative to its base version. */
import { Text } from '@mantine/core'
import type { Schemas } from '@probity/client'

type Counts = Schemas['DeltaPreview'] | Schemas['DeltaCounts']

export function DeltaSentence({ counts }: { readonly counts: Counts }) {
  const { base_version, added, changed, removed, untouched, unmatched_removals } = counts
  const format = (count: number) => count.toLocaleString('en')
  return (
    <Text size="sm">
      Changes to version {base_version}: {format(added)} added, {format(changed)} changed, {format(removed)} removed
      {untouched !== null && `, ${format(untouched)} unchanged`}.
      {unmatched_removals > 0 &&
        ` ${format(unmatched_removals)} removed keys are not in that version: the file may be based on another version.`}
    </Text>
  )
}
