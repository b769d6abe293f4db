/** A section of a draft that is edited as a form or as JSON. */
import { Group, SegmentedControl } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { Finding } from '#console/ui/decision/definition-kind.ts'
import { Section } from '#console/ui/section.tsx'
import { toAnchorId } from './anchor.ts'
import { JsonPart } from './json-part.tsx'

interface FormOrJsonProps {
  readonly title: string
  readonly actions?: ReactNode
  readonly value: unknown
  /** Its JSON pointer in the definition. */
  readonly pointer: string
  readonly findings: readonly Finding[]
  /** Must be a stable function: it is called with text entered later. */
  readonly onWrite: (value: unknown) => void
  /** The form. */
  readonly children: ReactNode
}

export function FormOrJson({ title, actions, value, pointer, findings, onWrite, children }: FormOrJsonProps) {
  const [way, setWay] = useState('form')
  return (
    <Section
      title={title}
      actions={
        <Group gap="xs">
          {actions}
          <SegmentedControl
            size="xs"
            aria-label={`${title} as`}
            value={way}
            onChange={setWay}
            data={[
              { value: 'form', label: 'Form' },
              { value: 'json', label: 'JSON' },
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
