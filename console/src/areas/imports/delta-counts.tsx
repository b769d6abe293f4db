/** The changes of a delta file relative to its base version. */
import { Text } from '@mantine/core'
import type { Schemas } from '@probity/client'

type Counts = Schemas['DeltaPreview'] | Schemas['DeltaCounts']

export function DeltaSentence({ counts }: { readonly counts: Counts }) {
  const { base_version, added, changed, removed, untouched, unmatched_removals } = counts
  const shown = (count: number) => count.toLocaleString('en')
  return (
    <Text size="sm">
      Changes to version {base_version}: {shown(added)} added, {shown(changed)} changed, {shown(removed)} removed
      {untouched !== null && `, ${shown(untouched)} unchanged`}.
      {unmatched_removals > 0 &&
        ` ${shown(unmatched_removals)} removed keys are not in that version: the file may be based on another version.`}
    </Text>
  )
}
