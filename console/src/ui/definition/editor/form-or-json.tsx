/** A titled part of a draft that is filled in as a form, or written as JSON by whoever prefers that. */
import { Group, SegmentedControl } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { Finding } from '#console/ui/decision/definition-kind.ts'
import { Section } from '#console/ui/section.tsx'
import { toAnchorId } from './anchor.ts'
import { JsonPart } from './json-part.tsx'

interface FormOrJsonProps {
  readonly title: string
  readonly aside?: ReactNode
  readonly value: unknown
  /** Where it stands in the definition. */
  readonly pointer: string
  readonly findings: readonly Finding[]
  /** Must not depend on the moment: it is called with what is typed later. */
  readonly onWrite: (value: unknown) => void
  /** The form. */
  readonly children: ReactNode
}

export function FormOrJson({ title, aside, value, pointer, findings, onWrite, children }: FormOrJsonProps) {
  const [way, setWay] = useState('form')
  return (
    <Section
      title={title}
      aside={
        <Group gap="xs">
          {aside}
          <SegmentedControl
            size="xs"
            aria-label={`${title} as`}
            value={way}
            onChange={setWay}
            data={[
              { value: 'form', label: 'Form' },
              { value: 'json', label: 'As JSON' },
            ]}
          />
        </Group>
      }
    >
      {way === 'form' ? (
        <div id={toAnchorId(pointer)} tabIndex={-1}>
          {children}
        </div>
      ) : (
        <JsonPart label={`${title} as JSON`} value={value} pointer={pointer} findings={findings} onChange={onWrite} />
      )}
    </Section>
  )
}
