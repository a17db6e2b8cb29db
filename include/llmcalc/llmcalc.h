/* llmcalc for other languages: strings in, JSON out. No exception crosses this interface, and every function may be
 * called from several threads at once. */
#ifndef LLMCALC_H
#define LLMCALC_H

/* What a shared library shows; everything else of it is hidden. */
#if defined(__GNUC__)
#define LLMCALC_SHOWN __attribute__((visibility("default")))
#else
#define LLMCALC_SHOWN
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What questions return: the exit codes of the command line. */
enum {
  LLMCALC_FITS = 0, /* also without an accelerator: then the answer has no verdict */
  LLMCALC_DOES_NOT_FIT = 1,
  LLMCALC_NOT_ANSWERED = 2 /* the answer says what is wrong with the question */
};

/* What a question may need from outside: the library itself opens nothing. Any of these may be NULL. */
typedef struct llmcalc_outside {
  void* data; /* handed to both functions */
  /* The text of a file that the question names, NULL where there is none; read before it is called again. */
  const char* (*read)(void* data, const char* path);
  /* Told which share of a search is done; not 0 ends it with what was found so far. */
  int (*progress)(void* data, double share);
} llmcalc_outside;

/* Answers as the command line does.
 * verb:     "fit", "serve", "plan", "scale", "from", "validate", "dtype", "model" or "gpu".
 * question: a JSON object of options without their dashes, {"model": "llama-3-8b", "gpu": "h100-sxm:8", "zero": 3}; a
 *           list says an option several times, and what belongs to no option are "names": {"names": ["show", "h100"]}.
 *           "format": "text" answers as a terminal without colours is answered.
 * answer:   set to a text that llmcalc_free takes back: the JSON of docs/json.md, of kind "error" where the question
 *           could not be answered; set to NULL only where memory ran out. */
LLMCALC_SHOWN int llmcalc_ask(const char* verb, const char* question, char** answer);

/* The same with what is outside. */
LLMCALC_SHOWN int llmcalc_ask_with(const char* verb, const char* question, const llmcalc_outside* outside,
                                   char** answer);

/* llmcalc_ask of "fit". */
LLMCALC_SHOWN int llmcalc_fit(const char* question, char** answer);

/* Takes back what a question gave; NULL is allowed. */
LLMCALC_SHOWN void llmcalc_free(char* answer);

/* "0.1.0"; never to be freed. */
LLMCALC_SHOWN const char* llmcalc_version(void);

#ifdef __cplusplus
}
#endif

#endif
