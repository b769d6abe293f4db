/** Choosing the adapter of an import: the field, what was detected, and what the adapter reads. */
import { Alert, Button, Code, Select, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { JsonBlock } from '#console/ui/json-block.tsx'
import { PageLink } from '#console/ui/link.tsx'
import type { Candidate } from './detection.tsx'

type Adapter = Schemas['Adapter']

interface AdapterSelectProps {
  readonly adapters: readonly Adapter[]
  readonly value: string | null
  readonly isDetected: boolean
  readonly onChange: (adapter_key: string | null) => void
}

export function AdapterSelect({ adapters, value, isDetected, onChange }: AdapterSelectProps) {
  // A detection that ends meanwhile must not replace what a person types into the open field.
  const [openedWith, setOpenedWith] = useState<string | null | undefined>(undefined)
  return (
    <Select
      label="Adapter"
      placeholder={isDetected ? 'Choose an adapter' : 'Detected from the file'}
      searchable
      maw={420}
      value={openedWith === undefined ? value : openedWith}
      data={adapters.map((one) => ({
        value: one.adapter_key,
        label: one.plugin === null ? one.title : `${one.title} (plugin)`,
      }))}
      onDropdownOpen={() => setOpenedWith(value)}
      onDropdownClose={() => setOpenedWith(undefined)}
      onChange={onChange}
    />
  )
}

interface DetectionHintProps {
  readonly detection: Schemas['Detection']
  readonly isUsed: boolean
  readonly onUse: (candidate: Candidate) => void
}

/** What the file looks like, and the way to read it that fits best. */
export function DetectionHint({ detection: { candidates, looks_like, advice }, isUsed, onUse }: DetectionHintProps) {
  const [best] = candidates
  if (!best) {
    return (
      <Alert color="orange" role="status">
        The file looks like {looks_like}. {advice ?? 'No adapter for this type reads it.'}
      </Alert>
    )
  }
  return (
    <Alert color={isUsed ? 'teal' : 'cyan'} role="status">
      <Text size="sm">{best.reason}</Text>
      {!isUsed && (
        <Button size="xs" mt="xs" variant="light" onClick={() => onUse(best)}>
          Use {best.title} with the detected options
        </Button>
      )}
    </Alert>
  )
}

export function AdapterInfo({ adapter }: { readonly adapter: Adapter }) {
  return (
    <Stack gap={6}>
      <Text size="sm">
        {adapter.description} {adapter.publisher && <span className="quiet">Published by {adapter.publisher}.</span>}
      </Text>
      {adapter.plugin !== null && (
        <Text size="sm">
          Read by the plugin{' '}
          <PageLink to={`/plugins/${adapter.plugin.plugin_key}`}>{adapter.plugin.plugin_key}</PageLink>, version{' '}
          {adapter.adapter_version}. It has a configuration instead of options.
        </Text>
      )}
      {adapter.plugin?.runs === false && (
        <Alert color="orange" role="status" title="The plugin cannot run">
          {adapter.plugin.reasons.join(' ')}
        </Alert>
      )}
      {adapter.sample?.encoding === 'utf8' && (
        <details>
          <summary>
            <Text span size="sm">
              Sample file
            </Text>
          </summary>
          <JsonOrText text={adapter.sample.text} />
          {Object.keys(adapter.sample.options).length > 0 && (
            <Text size="sm">
              Options of the sample <Code>{JSON.stringify(adapter.sample.options)}</Code>
            </Text>
          )}
        </details>
      )}
    </Stack>
  )
}

function JsonOrText({ text }: { readonly text: string }) {
  try {
    return <JsonBlock value={JSON.parse(text)} name="Sample" />
  } catch {
    return (
      <Code block className="json" tabIndex={0} role="region" aria-label="Sample">
        {text}
      </Code>
    )
  }
}
