/** The frame of every page: heading, description, actions and initial focus. */
import { Box, Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'

let focusedPath: string | null = null

/**
 * Names the document. After a link was followed, focus moves to the heading, where a screen reader begins to read; the
 * first page of a document is left to the browser.
 */
export function usePageFocus(title: string) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Probity`
    const path = window.location.pathname
    if (focusedPath !== null && focusedPath !== path) {
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
  readonly width?: 'text' | 'full'
  readonly children: ReactNode
}

export function Page({ title, mark, about, actions, trail, width = 'full', children }: PageProps) {
  const heading = usePageFocus(title)
  return (
    <Box className="page" maw={width === 'text' ? 820 : 1280}>
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
      {children}
    </Box>
  )
}
