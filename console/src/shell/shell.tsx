/** The layout of every page: header, navigation (a drawer on narrow screens) and content. */
import { ActionIcon, Drawer, Group, Text, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { useDisclosure, useLocalStorage, useMediaQuery } from '@mantine/hooks'
import { Notifications } from '@mantine/notifications'
import { Outlet } from '@tanstack/react-router'
import { Icon } from '#console/ui/icons.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { AccountMenu } from './account-menu.tsx'
import { Navigation } from './navigation.tsx'
import { OfflineNote } from './offline-note.tsx'
import { Palette } from './palette.tsx'
import { RequireSignIn } from './require-sign-in.tsx'

export function Shell() {
  const isWide = useMediaQuery('(min-width: 62em)', true, { getInitialValueInEffect: false })
  const [isShut, setShut] = useLocalStorage({
    key: 'probity.shut',
    defaultValue: false,
    getInitialValueInEffect: false,
  })
  const [isDrawn, drawer] = useDisclosure(false)
  const isExpanded = isWide ? !isShut : isDrawn
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="bar">
        <Group gap="xs" wrap="nowrap">
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label="Navigation"
            aria-expanded={isExpanded}
            onClick={() => (isWide ? setShut(!isShut) : drawer.open())}
          >
            <Icon name="menu" size={20} />
          </ActionIcon>
          <PageLink to="/" underline="never" c="var(--mantine-color-text)" className="brand">
            <img src="/favicon.svg" alt="" width={24} height={24} />
            <Text span fw={700} size="lg">
              Probity
            </Text>
          </PageLink>
        </Group>
        <Group gap="xs" wrap="nowrap">
          <Palette />
          <ColorSchemeSwitch />
          <AccountMenu />
        </Group>
      </header>
      <div className="frame">
        {isWide && !isShut && (
          <div className="side">
            <Navigation />
          </div>
        )}
        <main id="main" tabIndex={-1}>
          <OfflineNote />
          <RequireSignIn>
            <Outlet />
          </RequireSignIn>
        </main>
      </div>
      {!isWide && (
        <Drawer
          opened={isDrawn}
          onClose={drawer.close}
          size={270}
          title="Probity"
          closeButtonProps={{ 'aria-label': 'Close' }}
        >
          <Navigation onFollow={drawer.close} />
        </Drawer>
      )}
      <Notifications position="bottom-right" autoClose={5000} />
    </>
  )
}

function ColorSchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme()
  const other = useComputedColorScheme('light') === 'dark' ? 'light' : 'dark'
  return (
    <ActionIcon variant="default" size="lg" aria-label={`Use ${other} colours`} onClick={() => setColorScheme(other)}>
      <svg viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
        <circle cx="12" cy="12" r="8.5" fill="none" stroke="currentColor" strokeWidth="2" />
        <path d="M12 3.5a8.5 8.5 0 0 1 0 17z" fill="currentColor" />
      </svg>
    </ActionIcon>
  )
}
