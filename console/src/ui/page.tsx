/** The frame of every page: heading, description, actions and initial focus. */
import { Box, Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { onUserChange } from '#console/session/session.ts'
import { RestrictionNote } from './restriction/padlock.tsx'

const maxWidths = { text: 820, full: 1280, wide: 1720 } as const

const RESTRICTED_TITLE = 'Restricted record'

let focusedPath: string | null = null

const AFTER_SIGN_IN = ''

/** At the same address another page appears, and with it goes what was focused. */
onUserChange(() => {
  focusedPath = AFTER_SIGN_IN
})

/**
 * Names the document. After a link was followed, focus moves to the heading, where a screen reader begins to read; the
 * first page of a document is left to the browser.
 */
export function usePageFocus(title: string) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Probity`
    const path = window.location.pathname
    const isElsewhere = document.activeElement !== document.body
    if (focusedPath !== null && focusedPath !== path && !(focusedPath === AFTER_SIGN_IN && isElsewhere)) {
      heading.current?.focus({ preventScroll: true })
      window.scrollTo(0, 0)
    }
    focusedPath = path
  }, [title])
  return heading
}

interface PageProps {
  readonly title: string
  /** Badges beside the heading. */
  readonly mark?: ReactNode
  readonly about?: ReactNode
  readonly actions?: ReactNode
  /** The breadcrumb above the heading. */
  readonly trail?: ReactNode
  /** Of the object that the page shows; the page then has a padlock. */
  readonly restriction_id?: string | null | undefined
  readonly width?: 'text' | 'full' | 'wide'
  readonly children: ReactNode
}

export function Page(props: PageProps) {
  const { title, mark, about, actions, trail, restriction_id, width = 'full', children } = props
  // The title is seen by people who look at the screen, and stays in the history of the browser.
  const heading = usePageFocus(restriction_id ? RESTRICTED_TITLE : title)
  return (
    <Box className="page" maw={maxWidths[width]}>
      <Group justify="space-between" align="flex-end" gap="sm" mb="md">
        <Stack gap={2} miw={0}>
          {trail && (
            <Text size="sm" component="div">
              {trail}
            </Text>
          )}
          <Group gap="sm">
            <Title order={1} size="h2" ref={heading} tabIndex={-1} className="page-title">
              {title}
            </Title>
            {mark}
          </Group>
          {about && (
            <Text size="sm" c="dimmed" maw={720}>
              {about}
            </Text>
          )}
        </Stack>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {restriction_id && <RestrictionNote restriction_id={restriction_id} />}
      {children}
    </Box>
  )
}
