import type { PackageLists } from '../../../common/run/sandbox-image.js'

/** The image with the runners and nothing else. */
export const minimalImage = 'minimal'

/** The further packages of the named images. */
export const namedImages: ReadonlyMap<string, PackageLists> = new Map([
  [
    'data',
    {
      apt: [
        'python3-numpy',
        'python3-pandas',
        'python3-scipy',
        'python3-matplotlib',
        'python3-openpyxl',
        'python3-xlsxwriter',
        'python3-lxml',
        'python3-pil',
        'python3-tabulate',
        // Chinese, Japanese and Korean in figures.
        'fonts-wqy-microhei',
      ],
    },
  ],
  [
    'polyglot',
    {
      apt: [
        'golang-go',
        'default-jdk-headless',
        'ruby',
        'git',
        'curl',
        'ripgrep',
        'jq',
        'sqlite3',
        'zip',
        'unzip',
        'file',
        'less',
        'tree',
        'xxd',
      ],
    },
  ],
])
