/** The version a tab shows, kept in the page address: by default the one in force, else the newest. */
import { Select } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { useSetFilter } from '#console/ui/filters.tsx'
import type { Dataset } from '#console/ui/registry-queries.ts'
import { toVersionChoices } from '#console/ui/version-names.ts'

export function useChosenVersion(dataset: Dataset): number | null {
  const { version } = useSearch({ strict: false }) as { version?: unknown }
  const number = Number(version)
  if (Number.isInteger(number) && number > 0) return number
  return dataset.active?.version ?? dataset.versions[0]?.version ?? null
}

export function VersionSelect({ dataset, chosen }: { readonly dataset: Dataset; readonly chosen: number }) {
  const set = useSetFilter()
  const isKnown = dataset.versions.some(({ version }) => version === chosen)
  return (
    <Select
      size="xs"
      w={220}
      aria-label="Version"
      allowDeselect={false}
      value={String(chosen)}
      data={toVersionChoices(isKnown ? dataset.versions : [{ version: chosen }, ...dataset.versions])}
      onChange={(version) => set('version', version)}
    />
  )
}
