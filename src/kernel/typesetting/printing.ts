/** What reports are printed with: the layout of PDF files, the stylesheet of pages, and the compiler with its fonts. */
import { hash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { ThreadAdmission } from '../thread-admission.ts'
import { PdfCompiler, type PdfSettings } from './pdf-compiler.ts'

export interface PrintingSettings extends Omit<PdfSettings, 'fonts_dir'> {
  /** The folder with `fonts` and `reports`. */
  readonly assets_dir: string
}

export interface Printing {
  readonly pdf: PdfCompiler
  readonly layout: string
  readonly stylesheet: string
  /** Of layout and stylesheet. */
  readonly layout_sha256: string
}

export function createPrinting(
  { assets_dir, ...settings }: PrintingSettings,
  process: { readonly script: string; readonly admission: ThreadAdmission },
): Printing {
  const read = (name: string): string => fs.readFileSync(path.join(assets_dir, 'reports', name), 'utf8')
  const [layout, stylesheet] = [read('report.typ'), read('report.css')]
  return {
    pdf: new PdfCompiler({ ...settings, ...process, fonts_dir: path.join(assets_dir, 'fonts') }),
    layout,
    stylesheet,
    layout_sha256: hash('sha256', JSON.stringify([layout, stylesheet]), 'hex'),
  }
}
