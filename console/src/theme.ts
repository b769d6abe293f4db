/** Mantine theme. Styles that need selectors are in app.css. */
import { Anchor, Badge, Button, createTheme, Modal, Table } from '@mantine/core'

export const theme = createTheme({
  primaryColor: 'cyan',
  primaryShade: 9,
  defaultRadius: 'md',
  respectReducedMotion: true,
  headings: { fontWeight: '650' },
  components: {
    // Colour alone does not distinguish a link in running text.
    Anchor: Anchor.extend({ defaultProps: { underline: 'always' } }),
    Badge: Badge.extend({ defaultProps: { radius: 'sm' } }),
    Button: Button.extend({
      defaultProps: { size: 'sm' },
      // Destructive actions are red in dark mode too, where Mantine renders text nearly white.
      vars: (_, { variant, color }) => ({
        root: variant === 'subtle' && color === 'red' ? { '--button-color': 'var(--mantine-color-error)' } : {},
      }),
    }),
    Modal: Modal.extend({ styles: { title: { fontWeight: 650 } } }),
    Table: Table.extend({ defaultProps: { fz: 'sm' } }),
  },
})
