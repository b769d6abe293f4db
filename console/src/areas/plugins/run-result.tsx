/** One run of a version: what it returned, what it used and looked up. */
import { Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { formatCount } from '#console/ui/format.ts'
import { JsonBlock } from '#console/ui/json-block.tsx'
import { SearchLink } from '#console/ui/search-link.tsx'

export function RunResult({ run }: { readonly run: Schemas['PluginRun'] }) {
  return (
    <Stack gap="xs">
      <JsonBlock value={run.output} name="Output" />
      <RunUse run={run} />
    </Stack>
  )
}

export function RunUse({ run: { fuel, read } }: { readonly run: Schemas['PluginRun'] }) {
  return (
    <Text size="xs" c="dimmed" component="div">
      Fuel used: {fuel.toLocaleString('en')}.{' '}
      {read.length === 0 ? (
        'Looked up no entry of a list.'
      ) : (
        <>
          Looked up {formatCount(read.length, 'entry', 'entries')}:{' '}
          {read.map(({ list_key, key }, index) => (
            <span key={`${list_key} ${key}`}>
              {index > 0 && ', '}
              <SearchLink to={`/datasets/${list_key}`} search={{ tab: 'entries', key }} inherit>
                {key} in {list_key}
              </SearchLink>
            </span>
          ))}
          .
        </>
      )}
    </Text>
  )
}
