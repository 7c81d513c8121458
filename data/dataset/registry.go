package dataset

// builtins is the registry. A function and not a variable, so that no caller can
// change it for another.
func builtins() []Builtin {
	return []Builtin{
		{
			Info: Info{
				Name: "adult", Title: "Adult (census income)", Task: Classification, Target: "income",
				Licence: "CC BY 4.0", Source: "https://doi.org/10.24432/C5XW20",
				Citation: "Becker, B. and Kohavi, R. (1996). Adult [Dataset]. UCI Machine Learning Repository.",
				KnownProblems: []string{
					`"?" marks an unknown workclass, occupation or native-country: 2,399 training and 1,221 test rows have one`,
					"fnlwgt is the survey's sampling weight and education repeats education-num: both are left out",
					"24 training and 5 test rows repeat an earlier row; 23 distinct rows are in both sets",
					"the labels of the test file end in a dot, which is removed",
					"income of 1994: the threshold of $50,000 is not adjusted for prices",
				},
				Rows: 32561, TestRows: 16281, Embedded: true,
				Files: []File{
					{"adult/adult.data.gz", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"},
					{"adult/adult.test.gz", "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"},
				},
			},
			aliases: []string{"census-income"}, train: 0, test: 1, convert: adultLayout().convert,
		},
		{
			Info: Info{
				Name: "breast-cancer", Title: "Breast cancer (Ljubljana)", Task: Classification, Target: "class",
				Licence: "UCI Machine Learning Repository; citation requested",
				Source:  "https://archive.ics.uci.edu/dataset/14/breast+cancer",
				Citation: "This breast cancer domain was obtained from the University Medical Centre, Institute of Oncology, " +
					"Ljubljana, Yugoslavia. Thanks go to M. Zwitter and M. Soklic for providing the data.",
				KnownProblems: []string{
					`9 cells are "?": 8 of node-caps and 1 of breast-quad`,
					"14 of the 286 rows repeat an earlier row, and some equal rows have different classes",
					"286 rows are few: differences between learners are mostly noise",
				},
				Rows: 286, Embedded: true,
				Files: []File{{"breast-cancer/breast-cancer.data", "ca7d3fa97b62ff967b6894ffbb3acaaf4a51062e0149e5950b3ad6f685970b65"}},
			},
			train: 0, test: -1, convert: breastCancerLayout().convert,
		},
		{
			Info: Info{
				Name: "wdbc", Title: "Breast cancer Wisconsin (diagnostic)", Task: Classification, Target: "diagnosis",
				Licence: "CC BY 4.0", Source: "https://doi.org/10.24432/C5DW2B",
				Citation: "Wolberg, W., Mangasarian, O., Street, N. and Street, W. (1993). Breast Cancer Wisconsin (Diagnostic) " +
					"[Dataset]. UCI Machine Learning Repository.",
				KnownProblems: []string{
					"radius, perimeter and area say nearly the same thing",
					"the data set has no official test set, so published accuracies use different splits",
				},
				Rows: 569, Embedded: true,
				Files: []File{{"breast-cancer-wdbc/wdbc.data", "d606af411f3e5be8a317a5a8b652b425aaf0ff38ca683d5327ffff94c3695f4a"}},
			},
			aliases: []string{"breast-cancer-wdbc"}, train: 0, test: -1, convert: wdbcLayout().convert,
		},
		{
			Info: Info{
				Name: "insurance", Title: "Medical cost (insurance)", Task: Regression, Target: "charges",
				Licence:  "no clear licence",
				Source:   "https://github.com/stedy/Machine-Learning-with-R-datasets",
				Citation: "Lantz, B. (2013). Machine Learning with R. Packt Publishing.",
				KnownProblems: []string{
					"no publisher's checksum exists: the one used is that of the copy which other projects pin",
					"1 of the 1,338 rows repeats an earlier row",
					"charges have a long tail: the cap on the target decides accuracy more than the learner does",
				},
				Rows:  1338,
				Files: []File{{"insurance/insurance.csv", "505c1cbc2e63d0363bac59501563df2530aadf4cdb9cfee226f4ef32f5468281"}},
			},
			train: 0, test: -1, convert: asIs,
		},
		{
			Info: Info{
				Name: "sms-spam", Title: "SMS Spam Collection", Task: Classification, Target: "label",
				Licence: "CC BY 4.0", Source: "https://doi.org/10.24432/C5CC84",
				Citation: "Almeida, T. and Hidalgo, J. (2011). SMS Spam Collection [Dataset]. UCI Machine Learning Repository.",
				KnownProblems: []string{
					"403 of the 5,574 messages repeat an earlier one word for word, so that splits share messages",
					"the sources differ by class: most ham is from students in Singapore, most spam from a complaints site in the United Kingdom",
					"the data set has no official test set, so published accuracies use different splits",
				},
				Rows: 5574, Embedded: true,
				Files: []File{{"sms-spam/SMSSpamCollection.gz", "7d039a24a6083ed9ef0f806ebad56bbb976e3aeb8de05669173bfdc4996c239d"}},
			},
			aliases: []string{"smsspam"}, train: 0, test: -1, convert: smsLayout().convert,
		},
		{
			Info: Info{
				Name: "location30", Title: "Bangkok check-ins (membership inference benchmark)", Task: Classification, Target: "class",
				Licence: "not stated", Source: "https://github.com/privacytrustlab/datasets",
				Citation: "Shokri, R., Stronati, M., Song, C. and Shmatikov, V. (2017). Membership Inference Attacks against Machine " +
					"Learning Models. arXiv:1610.05820.",
				KnownProblems: []string{
					"the classes are clusters of the rows themselves, found without privacy: a benchmark of attacks, not of accuracy",
					"the publisher names neither places nor classes; 97 to 308 rows a class",
					"the data set has no official test set",
				},
				Rows:  5010,
				Files: []File{{"location30/bangkok.csv.gz", "2ca8f7fc231251e089823e44d39f2d1eed124574cc351c7f80368cfe631dd718"}},
			},
			aliases: []string{"bangkok"}, train: 0, test: -1, convert: convertLocation, declare: locationSchema,
		},
		{
			Info: Info{
				Name: "enron-spam-counts", Title: "Enron mail, counts of 3,000 words", Task: Classification, Target: "spam",
				Licence:  "not stated",
				Source:   "https://github.com/Kshahh/Email-Spam-Detection",
				Citation: "Metsis, V., Androutsopoulos, I. and Paliouras, G. (2006). Spam Filtering with Naive Bayes: Which Naive Bayes? CEAS.",
				KnownProblems: []string{
					"the 3,000 words are the most frequent ones of these very messages; their list is taken as public",
					"columns are count_0001 to count_3000 here: the word of each stands in the file's header line, in the same order",
					"the ham is of one mailbox: protecting one message does not protect its owner",
					"no publisher's checksum exists: the one used is that of three equal copies",
				},
				Rows:  5172,
				Files: []File{{"enron-spam-counts/emails.csv.gz", "3e5727ecfef339285d996d8841c7fa82d8c5d155c1ed925639d87197d09f9cf1"}},
			},
			aliases: []string{"enron"}, train: 0, test: -1, convert: convertEnron, declare: enronSchema,
		},
	}
}
