"""Server: the page in a browser, and the same over HTTP, for whoever is at this machine.

app                 create_app, ServerState, and errors in one sentence
listening           PageServer, the socket, the loop and the log
access              who may ask, how much and for how long
pages               the files of the page, and the description of the interface as a page
preparation         whatever a user has becomes a collection
collection          Collection, what is served
picture_files       PictureFiles, pictures by number, and thumbnails
picture_workers     PictureWorkers, processes that decode pictures and may die of one
jobs                Jobs, long work in the background, and Events, which tell pages of it
answers             shapes of answers, and how errors are described
find_api            pictures, uploads and searches over HTTP
label_api           labels over HTTP
audit_api           the audit over HTTP
export_api          what leaves the page over HTTP
finding/            orders, filters, worlds and searches
desks/              labels, audits, and what is made of them
static/             the page itself
"""
