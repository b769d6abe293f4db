/** Dialogs to fill in, to confirm and to read, closed by their buttons, Escape or a click outside. */
import { Button, Group, Modal, type ModalProps, Stack, Text } from '@mantine/core'
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import type { ApiMutation } from './api-mutation.ts'
import { ProblemNote } from './problem-note.tsx'

/** While `waiting` is set the change has become a change request, and the dialog can only be closed. */
type SentChange = Pick<ApiMutation<never>, 'isRunning' | 'problem'> & Partial<Pick<ApiMutation<never>, 'waiting'>>

const modalProps: Partial<ModalProps> = {
  centered: true,
  transitionProps: { duration: 120 },
  closeButtonProps: { 'aria-label': 'Close' },
}

/**
 * Mantine returns the focus when a dialog closes, but not when it is removed while open. Then it goes to what opened the
 * dialog or, if that is gone, to the item that contained it, otherwise to the heading of the page.
 */
function useReturnFocus(isOpen: boolean): void {
  const [opener] = useState(() => document.activeElement)
  const [item] = useState(() => opener?.closest('[tabindex="-1"]:not(main)'))
  const wasOpen = useRef(isOpen)
  wasOpen.current = isOpen
  useEffect(
    () => () => {
      if (!wasOpen.current) return
      window.setTimeout(() => {
        if (document.activeElement !== document.body) return
        const isThere = (element: Element | null | undefined) => element?.isConnected && element !== document.body
        const target = [opener, item].find(isThere) ?? document.querySelector('h1')
        if (target instanceof HTMLElement) target.focus({ preventScroll: true })
      })
    },
    [opener, item],
  )
}

interface FormDialogProps {
  readonly title: string
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onSubmit: () => void
  readonly submit: string
  readonly change: SentChange
  /** Reloads the current state, offered after a concurrent change. */
  readonly onReload?: () => void
  readonly size?: string
  /** Nobody in the place of the user may do it; the reason is among the children. */
  readonly isRefused?: boolean
  readonly children: ReactNode
}

export function FormDialog({
  title,
  isOpen,
  onClose,
  onSubmit,
  submit,
  change,
  onReload,
  size = 'md',
  isRefused = false,
  children,
}: FormDialogProps) {
  useReturnFocus(isOpen)
  const isRequested = Boolean(change.waiting)
  function send(event: FormEvent) {
    event.preventDefault()
    if (!isRequested && !isRefused) onSubmit()
  }
  return (
    <Modal opened={isOpen} onClose={onClose} title={title} size={size} {...modalProps}>
      <form onSubmit={send}>
        <Stack gap="sm">
          {children}
          <ProblemNote problem={change.problem} {...(onReload && { onReload })} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {isRequested ? 'Close' : 'Cancel'}
            </Button>
            {!isRequested && (
              <Button type="submit" loading={change.isRunning} disabled={isRefused}>
                {submit}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

interface ConfirmDialogProps {
  readonly title: string
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onConfirm: () => void
  /** The label of the confirm button. */
  readonly confirm: string
  readonly change: SentChange
  readonly isDangerous?: boolean
  /** Enter confirms: for what a key opens and another act takes back. Otherwise the focus is on Cancel. */
  readonly isConfirmFirst?: boolean
  readonly children: ReactNode
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const {
    title,
    isOpen,
    onClose,
    onConfirm,
    confirm,
    change,
    isDangerous = false,
    isConfirmFirst = false,
    children,
  } = props
  useReturnFocus(isOpen)
  const isRequested = Boolean(change.waiting)
  return (
    <Modal opened={isOpen} onClose={onClose} title={title} {...modalProps}>
      <Stack gap="sm">
        <Text size="sm" component="div">
          {children}
        </Text>
        <ProblemNote problem={change.problem} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} {...(!isConfirmFirst && { 'data-autofocus': true })}>
            {isRequested ? 'Close' : 'Cancel'}
          </Button>
          {!isRequested && (
            <Button
              {...(isDangerous && { color: 'red' })}
              {...(isConfirmFirst && { 'data-autofocus': true })}
              loading={change.isRunning}
              onClick={onConfirm}
            >
              {confirm}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  )
}

interface ReadDialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly size?: string
  readonly children: ReactNode
}

/** Shows something beside the page. Nothing is sent from it. */
export function ReadDialog({ title, onClose, size = 'md', children }: ReadDialogProps) {
  useReturnFocus(true)
  return (
    <Modal opened onClose={onClose} title={title} size={size} {...modalProps}>
      <Stack gap="sm">{children}</Stack>
    </Modal>
  )
}
