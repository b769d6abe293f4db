/** A collapsible part of a draft with a one-line summary. A part with errors is open. */
import { ActionIcon, Badge, Group, Text } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { toAnchorId } from './anchor.ts'

interface CollapsiblePartProps {
  /** Its name in button labels. */
  readonly name: string
  readonly title: string
  readonly about: ReactNode
  readonly pointer: string
  readonly isFaulty: boolean
  /** A new part is open. */
  readonly isNew?: boolean
  /** Null for the first or last part. */
  readonly onUp: (() => void) | null
  readonly onDown: (() => void) | null
  readonly onRemove: () => void
  readonly children: () => ReactNode
}

export function CollapsiblePart(props: CollapsiblePartProps) {
  const { name, title, about, pointer, isFaulty, isNew = false, onUp, onDown, onRemove, children } = props
  const [isOpen, setOpen] = useState(isNew || isFaulty)
  useEffect(() => {
    if (isFaulty) setOpen(true)
  }, [isFaulty])
  return (
    <div className="folded" id={toAnchorId(pointer)} tabIndex={-1}>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <b>{title}</b>
          <Text span size="xs" c="dimmed">
            {about}
          </Text>
          {isFaulty && (
            <Badge color="red" variant="light" tt="none">
              fault
            </Badge>
          )}
        </summary>
        {/* The fields are rendered only while open, because there are many. */}
        {isOpen && <div className="folded-body">{children()}</div>}
      </details>
      <Group gap={2} className="folded-order" wrap="nowrap">
        <OrderButton label={`Move ${name} up`} onClick={onUp}>
          ↑
        </OrderButton>
        <OrderButton label={`Move ${name} down`} onClick={onDown}>
          ↓
        </OrderButton>
        <OrderButton label={`Remove ${name}`} onClick={onRemove}>
          ×
        </OrderButton>
      </Group>
    </div>
  )
}

interface OrderButtonProps {
  readonly label: string
  readonly onClick: (() => void) | null
  readonly children: string
}

export function OrderButton({ label, onClick, children }: OrderButtonProps) {
  return (
    <ActionIcon
      size="sm"
      variant="subtle"
      color="gray"
      aria-label={label}
      title={label}
      disabled={onClick === null}
      onClick={() => onClick?.()}
    >
      {children}
    </ActionIcon>
  )
}
